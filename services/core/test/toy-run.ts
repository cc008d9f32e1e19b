// A run in memory for tests: gives facts their seq, folds and plans, and lets a test play the executors. "m#2" names the second
// iteration of the node m.

import { parseSavedDefinition } from "../src/definition/parse.ts";
import type { Graph } from "../src/definition/graph.ts";
import { withCause } from "../src/log/cause.ts";
import type { Fact, RunEvent } from "../src/log/event.ts";
import { apply, newRunState } from "../src/log/fold.ts";
import { executionAt } from "../src/log/execution.ts";
import type { ExecutionState, NodeState, RunState } from "../src/log/state.ts";
import { executorId, nodeId, runId } from "../src/name/ids.ts";
import { claimFact, onLeaseLost } from "../src/plan/claim.ts";
import { wholeBudget } from "../src/policy/budget.ts";
import { NO_INLINE } from "../src/plan/inline.ts";
import { planToFixpoint } from "../src/plan/plan.ts";
import { onOutcome } from "../src/plan/arrive.ts";
import type { Arrival, Outcome } from "../src/plan/result.ts";
import type { Taint } from "../src/policy/taint.ts";

export const RUN = runId("0199a000-0000-7000-8000-000000000001");
export const EXECUTOR = executorId("0199a000-0000-7000-8000-0000000000e1");

/** The graph of a definition that must be valid. */
export function graphOf(definition: unknown): Graph {
  const parsed = parseSavedDefinition(JSON.stringify(definition));
  if (!parsed.ok) throw new Error(JSON.stringify(parsed.violations));
  return parsed.graph;
}

/** Nodes of a user's own type by id (the first is the start) and edges written "a>b" or "a:handle>b". */
export function sketch(
  nodes: readonly (string | ({ readonly id: string } & Readonly<Record<string, unknown>>))[],
  edges: readonly string[],
): Graph {
  return graphOf({
    nodes: nodes.map((node, index) => ({
      type: index === 0 ? "start" : "task",
      ...(typeof node === "string" ? { id: node } : node),
    })),
    edges: edges.map((edge) => {
      const [from = "", target = ""] = edge.split(">");
      const [source = "", handle] = from.split(":");
      return { source, target, ...(handle === undefined ? {} : { source_handle: handle }) };
    }),
  });
}

export interface ToyRun {
  readonly state: RunState;
  readonly events: RunEvent[];
  now: number;
  readonly append: (fact: Fact) => void;
  readonly plan: () => void;
  readonly index: (id: string) => number;
  readonly node: (id: string) => NodeState;
  /** A node, or an iteration of one. */
  readonly execution: (id: string) => ExecutionState;
  /** Claims a queued node; answers the epoch. */
  readonly claim: (id: string) => number;
  /** Reports for the live claim, then plans. */
  readonly report: (id: string, outcome: Outcome, epoch?: number) => Arrival;
  /** Claims and completes. */
  readonly complete: (id: string, output?: unknown, more?: Partial<Outcome>) => void;
  /** Claims and fails. */
  readonly fail: (id: string, cause?: string, permanent?: boolean) => void;
  readonly lose: (id: string, reason?: "lease_expired" | "released") => void;
  readonly types: () => string[];
}

export const completed = (output: unknown = null, more: Partial<Outcome> = {}): Outcome =>
  ({ kind: "completed", outputJson: JSON.stringify(output), durationMs: 1, ...more }) as Outcome;

/** A map or a loop has found its items. */
export const expanded = (items: readonly unknown[], cut = false): Outcome => ({
  kind: "expanded",
  itemsJson: JSON.stringify(items),
  width: items.length,
  cut,
  durationMs: 1,
});

export const failed = (cause = "provider_error", permanent = false): Outcome => ({
  kind: "failed",
  cause,
  message: `it broke: ${cause}`,
  permanent,
  durationMs: 1,
});

/**
 * Starts a run of `graph` and plans its roots; with a budget the planner completes glue nodes itself. `reused` are facts that the run takes
 * over from another one.
 */
export function startToyRun(
  graph: Graph,
  input: unknown = null,
  budget = NO_INLINE,
  reused: readonly Fact[] = [],
  taint?: Taint,
): ToyRun {
  const state = newRunState(RUN, graph);
  const events: RunEvent[] = [];
  const append = (fact: Fact): void => {
    const seq = events.length + 1;
    const epoch = fact.type === "node.started" ? seq : fact.epoch;
    const caused = withCause(state, fact, 0);
    const event: RunEvent = { ...caused, epoch, runId: RUN, seq, at: run.now };
    events.push(event);
    apply(state, event);
  };
  const plan = (): void => planToFixpoint(state, run.now, append, budget);
  const index = (id: string): number => graph.indexOf.get(nodeId(id.split("#")[0] ?? "")) ?? -1;
  const node = (id: string): NodeState => found(state.nodes[index(id)], id);
  const execution = (id: string): ExecutionState =>
    found(executionAt(state, index(id), iterationOf(id)), id);
  const claim = (id: string): number => {
    const fact = claimFact(state, index(id), iterationOf(id), EXECUTOR);
    if (fact === undefined) throw new Error(`${id} is ${execution(id).status}`);
    append(fact);
    return execution(id).epoch;
  };
  const report = (id: string, outcome: Outcome, epoch = execution(id).epoch): Arrival => {
    const base = { iteration: iterationOf(id), executorId: EXECUTOR, jitter: 1, now: run.now };
    const arrival = onOutcome(state, { ...base, nodeIndex: index(id), epoch, outcome });
    if (arrival.kind === "accepted") arrival.facts.forEach(append);
    plan();
    return arrival;
  };
  const run: ToyRun = {
    state,
    events,
    now: 1_000,
    append,
    plan,
    index,
    node,
    execution,
    claim,
    report,
    complete: (id, output, more) => {
      claim(id);
      report(id, completed(output, more));
    },
    fail: (id, cause, permanent) => {
      claim(id);
      report(id, failed(cause, permanent));
    },
    lose: (id, reason = "lease_expired") => {
      const place = { nodeIndex: index(id), iteration: iterationOf(id), now: run.now };
      const loss = { epoch: execution(id).epoch, reason, executorId: EXECUTOR };
      const lost = onLeaseLost(state, { ...place, ...loss });
      if (lost.kind === "accepted") lost.facts.forEach(append);
      plan();
    },
    types: () => events.map((event) => `${event.type}${event.nodeId && ` ${nameOf(event)}`}`),
  };
  append(startedFact(graph, run.now, input, taint));
  reused.forEach(append);
  plan();
  return run;
}

const iterationOf = (id: string): number => Number(id.split("#")[1] ?? 0);

function found<T>(each: T | undefined, id: string): T {
  if (each === undefined) throw new Error(`no execution ${id}`);
  return each;
}

/** The execution an event is about, as tests name it. */
export const nameOf = ({ nodeId: id, iteration }: Pick<Fact, "nodeId" | "iteration">): string =>
  iteration === 0 ? id : `${id}#${iteration}`;

const startedFact = ({ definition }: Graph, now: number, input: unknown, taint?: Taint): Fact => ({
  nodeId: "",
  iteration: 0,
  attempt: 0,
  epoch: 0,
  type: "run.started",
  payload: {
    ...{ definitionDigest: "", workflowVersion: 1, kind: "saved" },
    deadlineAt: now + definition.deadlineMs,
    ...(definition.budget === undefined ? {} : { budget: wholeBudget(definition.budget) }),
    ...(taint && { taint }),
  },
  value: JSON.stringify(input),
});
