// References to values that are too large for the log. A reference is JSON, and it is in the place of the value: `{"$pawl.value":{"sha256",
// "bytes"}}`, always spelled in this one way. Quotes within a JSON string are escaped, so the spelling never occurs inside a string. Users
// cannot write it: `scan-json.ts` refuses the key in their values. So code that holds JSON texts finds references without parsing.

import { joinObject, splitArray, splitObject } from "./split-array.ts";
import { utf8Bytes } from "./utf8.ts";

export interface Reference {
  /** The digest of the value's JSON text in UTF-8, in hexadecimal. */
  readonly sha256: string;
  readonly bytes: number;
}

/** The only key of a reference. */
export const REFERENCE_KEY = "$pawl.value";

const OPENING = '{"$pawl.value":{"sha256":"';
const SPELLING = /\{"\$pawl\.value":\{"sha256":"([0-9a-f]{64})","bytes":([1-9]\d{0,9})\}\}/;
const EVERY = new RegExp(SPELLING, "g");
const HERE = new RegExp(SPELLING, "y");
const WHOLE = new RegExp(`^${SPELLING.source}$`);

/** The JSON text of a reference. */
export const referenceJson = ({ sha256, bytes }: Reference): string =>
  `${OPENING}${sha256}","bytes":${bytes}}}`;

export const hasReference = (json: string): boolean => json.includes(OPENING);

/** Whether the whole text is one reference. */
export const isReference = (json: string): boolean => hasReference(json) && WHOLE.test(json);

/** Whether a reference begins at this character. */
export function isReferenceAt(json: string, at: number): boolean {
  HERE.lastIndex = at;
  return HERE.test(json);
}

/** Every reference of a JSON text, each once. */
export function referencesIn(json: string): readonly Reference[] {
  if (!hasReference(json)) return [];
  const found = new Map<string, Reference>();
  for (const [, sha256 = "", bytes] of json.matchAll(EVERY))
    found.set(sha256, { sha256, bytes: Number(bytes) });
  return [...found.values()];
}

/** The size of the text with the values in the place of their references. */
export function resolvedBytes(json: string): number {
  let bytes = utf8Bytes(json);
  for (const [spelled, , own] of json.matchAll(EVERY)) bytes += Number(own) - spelled.length;
  return bytes;
}

/** The text with the values in the place of their references. `values` has every digest that `referencesIn` found. */
export const withValues = (json: string, values: ReadonlyMap<string, string>): string =>
  json.replace(EVERY, (spelled, sha256: string) => values.get(sha256) ?? spelled);

/** A smaller member stays in its value. */
const MEMBER_BYTES_MIN = 1024;
/** A value with more large members is stored as a whole. */
const MEMBERS_MAX = 64;

export interface Extraction {
  /** A text with more bytes is made smaller. */
  readonly inlineBytes: number;
  /** Whether the value may become a reference as a whole. Some readers need its members or elements. */
  readonly mayBeWhole: boolean;
  /** Takes a value out. */
  readonly take: (json: string) => Reference;
}

/**
 * A large JSON text made small: its largest members or elements become references, or else the whole value. A text that cannot be made
 * small comes back as it was.
 */
export function extractLarge(json: string, { inlineBytes, mayBeWhole, take }: Extraction): string {
  const bytes = utf8Bytes(json);
  if (bytes <= inlineBytes) return json;
  const isObject = json.startsWith("{");
  if (isObject || json.startsWith("[")) {
    const members = isObject ? [...splitObject(json)] : elements(json);
    const chosen = largestMembers(members, bytes - inlineBytes);
    if (chosen !== undefined) {
      const made = members.map(
        ([key, each]) => [key, chosen.has(key) ? referenceJson(take(each)) : each] as const,
      );
      return isObject ? joinObject(made) : `[${made.map(([, each]) => each).join(",")}]`;
    }
  }
  return mayBeWhole ? referenceJson(take(json)) : json;
}

type Member = readonly [key: string, json: string];

/** The elements of an array by their index. */
const elements = (json: string): readonly Member[] =>
  splitArray(json).map((each, index) => [String(index), each]);

/** The keys of the fewest members whose references save this many bytes, or undefined if too few members are large. */
function largestMembers(
  members: readonly Member[],
  excess: number,
): ReadonlySet<string> | undefined {
  const sized = members
    .filter(([, json]) => json.length >= MEMBER_BYTES_MIN / 4 && !isReference(json))
    .map(([key, json]) => ({ key, bytes: utf8Bytes(json) }))
    .filter(({ bytes }) => bytes >= MEMBER_BYTES_MIN)
    .toSorted((a, b) => b.bytes - a.bytes);
  const chosen = new Set<string>();
  let left = excess;
  for (const { key, bytes } of sized) {
    if (left <= 0 || chosen.size === MEMBERS_MAX) break;
    left -= bytes - REFERENCE_BYTES;
    chosen.add(key);
  }
  return left <= 0 ? chosen : undefined;
}

/** The most bytes of a reference. */
const REFERENCE_BYTES = referenceJson({ sha256: "0".repeat(64), bytes: 9_999_999_999 }).length;
