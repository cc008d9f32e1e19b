// Runs whose nodes wait for signals, for tests of the planner.

import { expect } from "vitest";
import { LIMITS } from "../src/data/limits.ts";
import type { Graph } from "../src/definition/graph.ts";
import { fold } from "../src/log/fold.ts";
import { readSnapshot, SNAPSHOT_FORMAT, writeSnapshot } from "../src/log/snapshot.ts";
import type { InlineBudget } from "../src/plan/inline.ts";
import {
  type CheckPayload,
  onSignal,
  onSignalDue,
  type SignalArrival,
} from "../src/plan/signal.ts";
import { sketch, startToyRun, type ToyRun } from "./toy-run.ts";

/** Wants an object with a number `amount` wherever a node has a schema. */
export const checkPayload: CheckPayload = (_schema, payload) =>
  typeof (payload as { amount?: unknown } | null)?.amount === "number"
    ? undefined
    : "payload_json.amount must be a number";

const budget = (): InlineBudget => ({
  mayComplete: () => true,
  checkPayload,
  bytes: LIMITS.inlineBytes,
});

/** An await_signal node. */
export const wait = (id: string, config: object = {}) => ({
  id,
  type: "await_signal",
  config: { name: "paid", ...config },
});

/** A run whose node `w` waits for the signal `paid`, with `b` behind it. */
export function setupWait(config: object = {}, edges: readonly string[] = ["s>w", "w>b"]): ToyRun {
  const others = ["b", "late"].filter((id) => edges.some((edge) => edge.endsWith(`>${id}`)));
  return begin(sketch(["s", wait("w", config), ...others], edges));
}

/** Starts a run whose glue nodes the planner completes. */
export const begin = (graph: Graph, input: unknown = {}): ToyRun =>
  startToyRun(graph, input, budget());

let counter = 0;

/** Sends a signal and plans: `kept`, `taken`, or why it was refused. */
export function signal(run: ToyRun, said: Partial<SignalArrival> = {}): string {
  const arrival = {
    ...{ name: "paid", payloadJson: "null", requestId: `r${(counter += 1)}`, digest: "d" },
    ...{ now: run.now, ...said },
  };
  const result = onSignal(run.state, arrival, checkPayload);
  if (result.kind === "accepted") result.facts.forEach(run.append);
  run.plan();
  if (result.kind === "accepted") return result.isKept ? "kept" : "taken";
  return result.kind;
}

/** The deadline of a wait passes. */
export function due(run: ToyRun, id = "w"): string {
  const iteration = Number(id.split("#")[1] ?? run.node(id).base);
  const result = onSignalDue(run.state, { nodeIndex: run.index(id), iteration, now: run.now });
  if (result.kind === "accepted") result.facts.forEach(run.append);
  run.plan();
  return result.kind;
}

/** The output of a node. */
export const outputOf = (run: ToyRun, id = "w"): unknown =>
  JSON.parse(run.node(id).output ?? "null");

/** The log alone gives the same state, with and without a snapshot on the way. */
export function expectFolded({ state, events }: ToyRun): void {
  expect(unlisted(fold(state.runId, state.graph, events))).toEqual(unlisted(state));
  const body = writeSnapshot(state);
  expect(readSnapshot(state.runId, state.graph, { format: SNAPSHOT_FORMAT, body })).toEqual(state);
}

/** The planner empties its work lists, and a fold alone does not. */
const unlisted = (state: ToyRun["state"]) => ({
  ...state,
  frontier: undefined,
  scopes: undefined,
});

/** A signal that no test has sent. */
export const arrivalOf = (name: string): SignalArrival => ({
  ...{ name, payloadJson: "null", requestId: "r", digest: "d", now: 1_000 },
});
