// Whether a replay ended as recorded: the same output as JSON, the same handle and the same wishes, or the same cause.
import { isDeepStrictEqual } from "node:util";
import type { Asked } from "./asked.ts";

/** How an invocation ended, on record or in a replay. */
export type Ending =
  | {
      readonly kind: "returned";
      readonly outputJson: string;
      readonly handle: string;
      readonly asked: Asked;
    }
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
    const now = valueOf(replayed.outputJson);
    const differences = [
      ...(replayed.asked.isOutputReplaced
        ? []
        : differencesOf("output", valueOf(recorded.outputJson), now)),
      ...differencesOf("handle", recorded.handle, replayed.handle),
      ...differencesOfAsked(recorded.asked, replayed.asked),
    ];
    const notes = notesOf(replayed.asked);
    if (differences.length === 0)
      return { isSame: true, lines: [`the same output: ${short(now)}`, ...notes] };
    const shown = differences.slice(0, DIFFERENCES_MAX);
    const rest = differences.length - shown.length;
    return {
      isSame: false,
      lines: [
        "the output differs from the recorded one",
        ...shown,
        ...(rest === 0 ? [] : [`  and ${rest} more`]),
        ...notes,
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

/** The writes of the memory, the next node, the delay and the labels. The output may have labels that the handler did not add. */
function differencesOfAsked(recorded: Asked, replayed: Asked): string[] {
  const isOpen = ([key]: readonly [string, unknown]): boolean => replayed.openKeys.includes(key);
  const closed = ({ memory }: Asked) =>
    Object.fromEntries(Object.entries(memory).filter((entry) => !isOpen(entry)));
  const added = replayed.taint.filter((label) => !recorded.taint.includes(label));
  return [
    ...differencesOf("memory", closed(recorded), closed(replayed)),
    ...differencesOf("goto", recorded.goto, replayed.goto),
    ...differencesOf("queue delay", recorded.queueDelayMs, replayed.queueDelayMs),
    ...added.map((label) => `  label ${label}: not recorded, now added`),
  ];
}

const notesOf = ({ notCompared, isOutputReplaced }: Asked): string[] => [
  ...notCompared.map((action) => `not compared: the action ${action}`),
  ...(isOutputReplaced ? ["not compared: the output, which the action replaces"] : []),
];

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
