// Runs pg-boss's statements on our connections.

import type { Queryable } from "../db/query.ts";
import type { Statement } from "./node-queue.ts";

/** Statements of pg-boss that get a name, so that they stay prepared. pg-boss has few texts. The bound is for texts that contain values. */
const NAMED_TEXTS_MAX = 200;

const bossNames = new Map<string, string>();

/** A text of pg-boss as a statement of the tick's connection. */
export function bossStatement(text: string, values: unknown[] | undefined): Statement {
  let name = bossNames.get(text);
  if (name === undefined && bossNames.size < NAMED_TEXTS_MAX) {
    name = `pawl_boss_${bossNames.size}`;
    bossNames.set(text, name);
  }
  return { text, ...(name !== undefined && { name }), ...(values !== undefined && { values }) };
}

/** The option of a call to pg-boss that makes its statements join the transaction of a connection. */
export const joining = (db: Queryable) => ({
  db: {
    executeSql: (text: string, values: unknown[] = []) => db.query<object>({ text, values }),
  },
});
