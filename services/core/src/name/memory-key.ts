// Keys of a run's memory. Templates and scripts read them as `ctx.memory.<key>`, so a key is a name that needs no quotes there.

/** For people. */
export const MEMORY_KEY_RULE =
  "a letter, then letters, digits and _, at most 128, and no name that every JavaScript object has";

const KEY = /^[A-Za-z][A-Za-z0-9_]{0,127}$/;

/** Names that every JavaScript object inherits. */
const INHERITED: ReadonlySet<string> = new Set([
  "constructor",
  "hasOwnProperty",
  "isPrototypeOf",
  "propertyIsEnumerable",
  "prototype",
  "toLocaleString",
  "toString",
  "valueOf",
]);

/** Whether a run's memory may have this key. */
export const isMemoryKey = (key: string): boolean => KEY.test(key) && !INHERITED.has(key);
