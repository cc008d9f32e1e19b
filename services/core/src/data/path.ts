// Paths into plain data: `ctx.nodes.fetch.body[0]`. A path reads only own properties of objects and elements of arrays, so it never reaches
// a prototype, a method or a length. A path with a name that could reach one in other code is refused.

/** A field name or an array index. */
export type PathStep = string | number;

type PathResult =
  | { readonly ok: true; readonly path: readonly PathStep[] }
  | { readonly ok: false; readonly reason: "PATH_SYNTAX" | "RESERVED_KEY" };

type Lookup = { readonly found: true; readonly value: unknown } | { readonly found: false };

const STEPS_MAX = 64;
const RESERVED: ReadonlySet<string> = new Set(["__proto__", "constructor", "prototype"]);
// A name, or after it: .name, [12], ["any text"] or ['any text']. The pattern is sticky, so each match starts at the end of the last one.
const FIRST = /[A-Za-z_][A-Za-z0-9_-]*/y;
const NEXT = /\.([A-Za-z0-9_-]+)|\[(\d{1,9})\]|\["([^"\\\]]*)"\]|\['([^'\\\]]*)'\]/y;

/** True for a name that no path may contain. */
export const isReservedKey = (key: string): boolean => RESERVED.has(key);

/** Properties that every JavaScript object inherits. Data may use them as keys, ids may not. */
const INHERITED: ReadonlySet<string> = new Set([
  "hasOwnProperty",
  "isPrototypeOf",
  "propertyIsEnumerable",
  "toLocaleString",
  "toString",
  "valueOf",
]);

/** True for a name that no id may have. */
export const isReservedName = (name: string): boolean => RESERVED.has(name) || INHERITED.has(name);

/** Reads a path. Calls, operators and all other text that is no path are PATH_SYNTAX. */
export function parsePath(text: string): PathResult {
  const path: PathStep[] = [];
  FIRST.lastIndex = 0;
  const first = FIRST.exec(text);
  if (first === null) return { ok: false, reason: "PATH_SYNTAX" };
  path.push(first[0]);
  NEXT.lastIndex = FIRST.lastIndex;
  while (NEXT.lastIndex < text.length) {
    const match = NEXT.exec(text);
    if (match === null || path.length >= STEPS_MAX) return { ok: false, reason: "PATH_SYNTAX" };
    path.push(match[2] === undefined ? (match[1] ?? match[3] ?? match[4] ?? "") : Number(match[2]));
  }
  const reserved = path.some((step) => typeof step === "string" && RESERVED.has(step));
  return reserved ? { ok: false, reason: "RESERVED_KEY" } : { ok: true, path };
}

/** The value at `path`, starting at step `from`. */
export function lookup(root: unknown, path: readonly PathStep[], from = 0): Lookup {
  let value = root;
  for (let at = from; at < path.length; at++) {
    const step = path[at] ?? "";
    if (Array.isArray(value)) {
      const index = typeof step === "number" ? step : /^\d{1,9}$/.test(step) ? Number(step) : -1;
      if (index < 0 || index >= value.length) return { found: false };
      value = value[index];
    } else if (isRecord(value)) {
      const key = String(step);
      if (!Object.hasOwn(value, key)) return { found: false };
      value = value[key];
    } else return { found: false };
  }
  return { found: true, value };
}

/** True for an object that is not an array. */
export const isRecord = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === "object" && value !== null && !Array.isArray(value);

/** The path as text, for messages. */
export const pathText = (path: readonly PathStep[]): string =>
  path.reduce<string>(
    (text, step) =>
      typeof step === "number" ? `${text}[${step}]` : text === "" ? step : `${text}.${step}`,
    "",
  );
