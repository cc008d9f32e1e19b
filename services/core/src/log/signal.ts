// Signals in the fold. A `run.signalled` keeps its payload until an execution takes it: the end of that execution names the request id. The
// fold also keeps the executions that wait, by name, so that the oldest wait is found without a search. Both lists never have the same name
// at the end of a commit: a signal ends a wait at once, and a wait takes a kept signal at once.

import { utf8Bytes } from "../data/utf8.ts";
import type { FactOf, LoggedFact } from "./event.ts";
import type { RunState } from "./state.ts";
import type { KeptSignal } from "./wait-state.ts";

/** Folds a signal. */
export function keepSignal(
  state: RunState,
  { payload, value = "null", at }: FactOf<"run.signalled"> & { readonly at: number },
): void {
  const { name, requestId, digest } = payload;
  const bytes = utf8Bytes(value);
  state.signals.set(requestId, { name, json: value, bytes, at });
  state.signalBytes += bytes;
  state.signalDigests.set(requestId, digest);
}

/** Folds the end of an execution that took a signal. Most events take none. */
export function takeSignal(state: RunState, event: LoggedFact): void {
  if (event.type !== "node.completed" && event.type !== "node.failed") return;
  const { signal = "" } = event.payload;
  const kept = state.signals.get(signal);
  if (kept === undefined) return;
  state.signals.delete(signal);
  state.signalBytes -= kept.bytes;
}

/** Adds an execution to those that wait for a signal, or removes it. */
export function countWait(
  { waits }: RunState,
  name: string,
  execution: { readonly nodeIndex: number; readonly iteration: number },
  step: 1 | -1,
): void {
  const key = execution.nodeIndex * ITERATIONS + execution.iteration;
  const keys = waits.get(name) ?? new Set();
  if (step === 1) waits.set(name, keys.add(key));
  else if (keys.delete(key) && keys.size === 0) waits.delete(name);
}

/** More than any iteration of a node. */
const ITERATIONS = 2 ** 32;

/** The execution that has waited longest for a signal of this name. */
export function oldestWait({ waits }: RunState, name: string) {
  const [key] = waits.get(name) ?? [];
  if (key === undefined) return undefined;
  return { nodeIndex: Math.floor(key / ITERATIONS), iteration: key % ITERATIONS };
}

/** The signal of this name that came first, with its request id, among those that `taken` does not name. */
export function oldestSignal(
  { signals }: RunState,
  name: string,
  taken: ReadonlySet<string>,
): ({ readonly requestId: string } & KeptSignal) | undefined {
  for (const [requestId, kept] of signals)
    if (kept.name === name && !taken.has(requestId)) return { requestId, ...kept };
  return undefined;
}
