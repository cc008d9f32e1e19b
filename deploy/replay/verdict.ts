// Whether a replay ended as recorded: the same output as JSON and the same handle, or the same cause.
import { isDeepStrictEqual } from "node:util";

/** How an invocation ended, on record or in a replay. */
export type Ending =
  | { readonly kind: "returned"; readonly outputJson: string; readonly handle: string }
  | { readonly kind: "failed"; readonly cause: string; readonly message: string }
  /** Only on record: the handler still runs, or its output was not kept. */
  | { readonly kind: "open"; readonly status: string };

interface Verdict {
  readonly isSame: boolean;
  /** For people. */
  readonly lines: readonly string[];
}

/** How many differences of two outputs are shown. */
const DIFFERENCES_MAX = 20;
const TEXT_MAX = 200;

export function compare(recorded: Ending, replayed: Ending): Verdict {
  if (recorded.kind === "returned" && replayed.kind === "returned") {
    const before = valueOf(recorded.outputJson);
    const now = valueOf(replayed.outputJson);
    const differences = [
      ...differencesOf("output", before, now),
      ...differencesOf("handle", recorded.handle, replayed.handle),
    ];
    if (differences.length === 0) return same(`the same output: ${short(now)}`);
    const shown = differences.slice(0, DIFFERENCES_MAX);
    const rest = differences.length - shown.length;
    return {
      isSame: false,
      lines: [
        "the output differs from the recorded one",
        ...shown,
        ...(rest === 0 ? [] : [`  and ${rest} more`]),
      ],
    };
  }
  if (recorded.kind === "failed" && replayed.kind === "failed" && recorded.cause === replayed.cause)
    return same(`the same failure: ${textOf(replayed)}`);
  return {
    isSame: false,
    lines: [
      "the outcome differs from the recorded one",
      `  recorded: ${textOf(recorded)}`,
      `  now:      ${textOf(replayed)}`,
    ],
  };
}

const same = (line: string): Verdict => ({ isSame: true, lines: [line] });

const valueOf = (json: string): unknown => (json === "" ? null : JSON.parse(json));

function textOf(ending: Ending): string {
  if (ending.kind === "returned") return `returned ${short(valueOf(ending.outputJson))}`;
  if (ending.kind === "open") return `no outcome yet, the node is ${ending.status}`;
  return `failed with ${ending.cause}: ${ending.message.slice(0, TEXT_MAX)}`;
}

/** A line for each place at which two values differ. */
function differencesOf(path: string, before: unknown, now: unknown): string[] {
  if (isDeepStrictEqual(before, now)) return [];
  if (!isObject(before) || !isObject(now) || Array.isArray(before) !== Array.isArray(now))
    return [`  ${path}: recorded ${short(before)}, now ${short(now)}`];
  const keys = new Set([...Object.keys(before), ...Object.keys(now)]);
  return [...keys].flatMap((key) => differencesOf(`${path}.${key}`, before[key], now[key]));
}

const isObject = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === "object" && value !== null;

function short(value: unknown): string {
  const text = value === undefined ? "nothing" : JSON.stringify(value);
  return text.length > TEXT_MAX ? `${text.slice(0, TEXT_MAX)}…` : text;
}
