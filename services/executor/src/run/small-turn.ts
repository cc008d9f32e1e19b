// A turn of an agent with large values, made small. The scheduler reads the list of its calls, so the list stays in the log. The arguments of
// single calls leave the log as other members do, and the attempt that runs a call has its arguments in their place.

import { extractLarge, type Extraction } from "@pawl/core/data/reference";
import { joinObject, splitArray, splitObject } from "@pawl/core/data/split-array";
import { utf8Bytes } from "@pawl/core/data/utf8";

const CALLS = "tool_calls";
const ARGUMENTS = "arguments";

/** The output of a turn with references in the place of large members and large arguments. */
export function smallTurn(json: string, extraction: Omit<Extraction, "mayBeWhole">): string {
  const members = splitObject(json);
  const calls = splitArray(members.get(CALLS) ?? "[]").map(splitObject);
  // Arguments and members side by side. No member has a number as its name.
  const flat = new Map([
    ...[...members].filter(([key]) => key !== CALLS),
    ...calls.map((call, at) => [String(at), call.get(ARGUMENTS) ?? "null"] as const),
  ]);
  const text = joinObject(flat);
  const frame = Math.max(0, utf8Bytes(json) - utf8Bytes(text));
  const inlineBytes = extraction.inlineBytes - frame;
  const small = splitObject(extractLarge(text, { ...extraction, inlineBytes, mayBeWhole: false }));
  const made = calls.map((call, at) =>
    joinObject(call.set(ARGUMENTS, small.get(String(at)) ?? "null")),
  );
  const list = `[${made.join(",")}]`;
  return joinObject(
    [...members.keys()].map((key) => [key, key === CALLS ? list : (small.get(key) ?? "null")]),
  );
}
