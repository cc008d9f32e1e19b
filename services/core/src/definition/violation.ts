// Collects broken rules: all of them at once, each with its path. A bound keeps the answer small.

import type { Violation } from "./shape.ts";

/** The reason of the last entry, which counts the violations that were left out. */
export const MORE = "MORE";

const VIOLATIONS_MAX = 200;
const NAME_LENGTH = 128;

/** Reasons that mean "too large" rather than "wrong": the caller answers LIMIT_EXCEEDED. */
export const LIMIT_REASONS: ReadonlySet<string> = new Set([
  "TOO_LARGE",
  "TOO_MANY_NODES",
  "TOO_MANY_EDGES",
  "TOO_MANY_LOOPS",
  "TEMPLATE_TOO_LARGE",
]);

/** Takes one broken rule. */
export type Report = (path: string, reason: string, message: string, nodeId?: string) => void;

/** A list of reports. The end of `list` counts the violations that were left out. */
export function violationList(): { readonly report: Report; readonly list: () => Violation[] } {
  const kept: Violation[] = [];
  let more = 0;
  return {
    report: (path, reason, message, nodeId = "") => {
      // An invalid id may have any length.
      const named = nodeId.length > NAME_LENGTH ? excerpt(nodeId) : nodeId;
      if (kept.length < VIOLATIONS_MAX) kept.push({ path, reason, message, nodeId: named });
      else more++;
    },
    list: () =>
      more === 0
        ? kept
        : [...kept, { path: "", reason: MORE, message: `and ${more} more`, nodeId: "" }],
  };
}

/** A text of the user, short enough for a message. */
export const excerpt = (text: string): string =>
  text.length > 64 ? `${text.slice(0, 61).toWellFormed()}…` : text;

/** A zod path in the usual notation: nodes[3].retry.attempts. */
export const violationPath = (path: readonly PropertyKey[], prefix = ""): string =>
  path.reduce<string>(
    (text, step) =>
      typeof step === "number"
        ? `${text}[${step}]`
        : `${text}${text === "" ? "" : "."}${excerpt(String(step))}`,
    prefix,
  );
