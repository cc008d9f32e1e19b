// The small vocabulary the suites write runs with.

import { randomUUID } from "node:crypto";
import type { Fact, FactOf } from "@pawl/core/log/event";
import {
  definitionId,
  executorId,
  nodeId,
  runId,
  type ExecutorId,
  type NodeId,
  type RunId,
} from "@pawl/core/name/ids";
import type { StreamedFact } from "@pawl/platform/store/log/log";
import type { Append } from "@pawl/platform/store/log/log";
import type { Journal, Transaction } from "@pawl/platform/store/tick/journal";
import type { NewRun, RunChange } from "@pawl/platform/store/runs/runs";
import type { NewLease } from "@pawl/platform/store/leases/leases";

export const HOUR_MS = 3_600_000;

export const newRunId = (): RunId => runId(randomUUID());
export const newExecutorId = (): ExecutorId => executorId(randomUUID());
/** The executor of tests that have only one. */
export const EXECUTOR: ExecutorId = newExecutorId();
export const NODE: NodeId = nodeId("fetch");

/** A running run with one event, unless `over` says otherwise. */
export const newRun = (over: Partial<NewRun> = {}): NewRun => ({
  runId: newRunId(),
  tenantId: "acme",
  definitionId: definitionId(randomUUID()),
  definitionDigest: "d",
  workflowId: "orders",
  workflowVersion: 1,
  kind: "saved",
  priority: 0,
  requestId: null,
  requestHash: null,
  traceparent: null,
  createdAt: Date.now(),
  deadlineAt: Date.now() + HOUR_MS,
  assumesNewest: false,
  limits: {},
  input: "null",
  parent: null,
  depth: 0,
  status: "running",
  hasFailures: false,
  errorMessage: null,
  failureClass: null,
  ended: false,
  eventCount: 1,
  ...over,
});

export const runStarted: Fact = {
  type: "run.started",
  nodeId: "",
  iteration: 0,
  attempt: 0,
  epoch: 0,
  payload: { definitionDigest: "d", workflowVersion: 1, kind: "saved", deadlineAt: 0 },
  value: '{"name":"Ada"}',
};

export const queued = (node: NodeId = NODE, attempt = 1): FactOf<"node.queued"> => ({
  type: "node.queued",
  nodeId: node,
  iteration: 0,
  attempt,
  epoch: 0,
  payload: {},
});

export const started = (executor: ExecutorId, node: NodeId = NODE): FactOf<"node.started"> => ({
  type: "node.started",
  nodeId: node,
  iteration: 0,
  attempt: 1,
  epoch: 0,
  payload: { executorId: executor },
});

export const completed = (
  epoch: number,
  place: { readonly node?: NodeId; readonly iteration?: number; readonly attempt?: number } = {},
): FactOf<"node.completed"> => ({
  type: "node.completed",
  nodeId: place.node ?? NODE,
  iteration: place.iteration ?? 0,
  attempt: place.attempt ?? 1,
  epoch,
  payload: { durationMs: 3 },
  value: '{"body":[1,2]}',
});

export const delta = (
  run: RunId,
  epoch: number,
  ordinal: number,
  { node = NODE, executor = EXECUTOR }: { node?: NodeId; executor?: ExecutorId } = {},
): StreamedFact => ({
  runId: run,
  nodeId: node,
  iteration: 0,
  epoch,
  executorId: executor,
  ordinal,
  type: "node.stream.delta",
  payload: { deltaIndex: ordinal, text: `part ${ordinal}` },
});

/** The change that appends this many events to a run and does not end it. */
export const change = (
  run: RunId,
  expectedVersion: number,
  eventCount: number,
  over: Partial<RunChange> = {},
): RunChange => ({
  runId: run,
  expectedVersion,
  eventCount,
  status: "running",
  hasFailures: false,
  errorMessage: null,
  failureClass: null,
  ended: false,
  ...over,
});

/** Facts in order, the last one at the run's new last seq. */
export const appends = (run: RunId, facts: readonly Fact[]): Append[] =>
  facts.map((fact, index) => ({ runId: run, back: facts.length - 1 - index, fact }));

/** Starts a run and gives its id; its version is 1. */
export async function begin(journal: Journal, over: Partial<NewRun> = {}): Promise<RunId> {
  const run = newRun(over);
  await journal.transact((tx) => {
    void tx.insertRuns([run]);
    void tx.append(appends(run.runId, [runStarted]));
  });
  return run.runId;
}

interface Step {
  readonly facts: readonly Fact[];
  readonly over?: Partial<RunChange>;
  /** More to do in the same transaction. */
  readonly also?: (tx: Transaction) => void;
}

/** Appends facts to a run that was planned on `version`; gives the run's new last seq. */
export async function step(
  journal: Journal,
  run: RunId,
  version: number,
  { facts, over = {}, also = () => {} }: Step,
): Promise<number> {
  return await journal.transact(async (tx) => {
    const advanced = tx.advance([change(run, version, facts.length, over)]);
    void tx.append(appends(run, facts));
    also(tx);
    return (await advanced).get(run) ?? 0;
  });
}

/** Claims a node on `version`; gives the claim's epoch. */
export async function claim(
  journal: Journal,
  run: RunId,
  version: number,
  executor: ExecutorId,
  node: NodeId = NODE,
): Promise<number> {
  const lease: NewLease = {
    runId: run,
    nodeId: node,
    iteration: 0,
    back: 0,
    attempt: 1,
    executorId: executor,
  };
  return await step(journal, run, version, {
    facts: [started(executor, node)],
    also: (tx) => void tx.openLeases([lease]),
  });
}
