// pg-boss's statements under names, so that they stay prepared on the tick's connection.

/** pg-boss's texts are few; naming them keeps them prepared. A bound, should one ever carry its values inline. */
const NAMED_TEXTS_MAX = 200;

const bossNames = new Map<string, string>();

/** A text of pg-boss as a query of the connection. */
export function bossQuery(text: string, values: unknown[] | undefined) {
  let name = bossNames.get(text);
  if (name === undefined && bossNames.size < NAMED_TEXTS_MAX) {
    name = `pawl_boss_${bossNames.size}`;
    bossNames.set(text, name);
  }
  return {
    text,
    ...(name === undefined ? {} : { name }),
    ...(values === undefined ? {} : { values }),
  };
}
