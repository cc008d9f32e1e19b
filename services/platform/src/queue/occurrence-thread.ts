// The thread that computes occurrences. It answers one question at a time. The service may end it at any time.

import { parentPort } from "node:worker_threads";
import { dueTimes, occurrencesAfter, recurrenceFault } from "./boss-occurrences.ts";

const QUESTIONS = { after: occurrencesAfter, fault: recurrenceFault, due: dueTimes } as const;

/** A question to the thread. */
export interface Asked {
  readonly name: keyof typeof QUESTIONS;
  readonly args: readonly unknown[];
}

/** A message of the thread: `ready` once at first, then the answers. */
export type Answered =
  | { readonly kind: "ready" }
  | { readonly kind: "value"; readonly value: unknown }
  | { readonly kind: "error"; readonly message: string };

// oxlint-disable-next-line unicorn/require-post-message-target-origin -- a thread has no target origin, a window has
const send = (answer: Answered): void => parentPort?.postMessage(answer);

parentPort?.on("message", ({ name, args }: Asked) => {
  try {
    // occurrences.ts sends the question. It pairs names and arguments.
    const question = QUESTIONS[name] as (...given: readonly unknown[]) => unknown;
    send({ kind: "value", value: question(...args) });
  } catch (error) {
    send({ kind: "error", message: error instanceof Error ? error.message : String(error) });
  }
});
send({ kind: "ready" });
