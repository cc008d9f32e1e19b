// The thread that computes occurrences: takes one question at a time, answers it, and knows nothing else. It may be ended at any time.

import { parentPort } from "node:worker_threads";
import { occurrencesAfter, recurrenceFault } from "./boss-occurrences.ts";
import { dueTimes } from "./due-times.ts";

/** What can be asked, by name. */
export const QUESTIONS = {
  after: occurrencesAfter,
  fault: recurrenceFault,
  due: dueTimes,
} as const;

export type Questions = typeof QUESTIONS;

/** A question on its way to the thread. */
export interface Asked {
  readonly name: keyof Questions;
  readonly args: readonly unknown[];
}

/** Its answer; `ready` comes first, once. */
export type Answered =
  | { readonly kind: "ready" }
  | { readonly kind: "value"; readonly value: unknown }
  | { readonly kind: "error"; readonly message: string };

// A thread, not a window.
// oxlint-disable-next-line unicorn/require-post-message-target-origin
const say = (answer: Answered): void => parentPort?.postMessage(answer);

parentPort?.on("message", ({ name, args }: Asked) => {
  try {
    // Sent by occurrences.ts, which pairs names and arguments.
    const question = QUESTIONS[name] as (...given: readonly unknown[]) => unknown;
    say({ kind: "value", value: question(...args) });
  } catch (error) {
    say({ kind: "error", message: error instanceof Error ? error.message : String(error) });
  }
});
say({ kind: "ready" });
