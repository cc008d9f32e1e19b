import * as fc from "fast-check";
import { expect, test } from "vitest";
import { completed, graphOf, RUN, sketch, startToyRun } from "../../test/toy-run.ts";
import { LIMITS } from "../data/limits.ts";
import { onPause } from "../plan/pause.ts";
import type { Outcome } from "../plan/result.ts";
import { workflowState } from "./workflow-state.ts";
import type { WorkflowState } from "./workflow-state-shape.ts";
import { stateChanges } from "./workflow-state-diff.ts";
import { isoTime, workflowStateJson } from "./workflow-state-json.ts";
import { newRunState, type RunState } from "./state.ts";
import { apply } from "./fold.ts";
import { startedFact, type AcceptedStart } from "./start.ts";
import { APPROVAL } from "./event.ts";
import { approvalId, runId } from "../name/ids.ts";
import { undoOf } from "./undo-iteration.ts";

fc.configureGlobal({ seed: 1 });

const stateOf = (state: RunState): WorkflowState => workflowState(state, { workflowId: "w" });

test("an empty state has the defaults of the seed (S2.2, S2.6, S2.7, S2.9, S2.10, S2.13, S2.16, S2.20, S2.22, S2.24, S2.25, S2.26)", () => {
  const state = stateOf(newRunState(RUN, sketch(["start"], [])));
  expect(state).toMatchObject({
    ...{ workflowId: "w", runId: RUN, constraints: [], status: "pending", currentNode: "" },
    ...{ iterationCount: 0, maxIterations: 50, retryCount: 0, compensationStack: [] },
    ...{ totalTokensUsed: 0, totalCostUsd: 0, memoryJson: "{}", visitedNodes: [] },
    ...{ supervisorHistory: [], maxTokenBudget: undefined, budgetUsd: undefined },
  });
});

const START: AcceptedStart = {
  ...{ runId: RUN, tenantId: "t", kind: "saved", definitionDigest: "", workflowId: "w" },
  ...{ workflowVersion: 1, assumesNewest: false, priority: 0, requestId: null, requestHash: null },
  ...{ traceparent: null, createdAt: 1_000, deadlineAt: 1_000 + LIMITS.runDeadlineMs, limits: {} },
  ...{ input: "null", parent: null, depth: 0, definitionId: "d" as AcceptedStart["definitionId"] },
};

function started(definition: object, asked?: AcceptedStart["asked"]): RunState {
  const state = newRunState(RUN, graphOf({ nodes: [{ id: "a", type: "start" }], ...definition }));
  const fact = startedFact(asked === undefined ? START : { ...START, asked });
  apply(state, { ...fact, seq: 1, at: 1_000 });
  return state;
}

test("goal, constraints and bounds come from the definition, and the start wins (S2.3, S2.4, S2.5, S2.6, S2.10, S2.12, S2.14)", () => {
  const own = { goal: "sell", constraints: ["be brief"], max_iterations: 7, max_retries: 2 };
  expect(stateOf(started(own))).toMatchObject({
    ...{ goal: "sell", constraints: ["be brief"], maxIterations: 7, maxRetries: 2 },
    ...{ maxExecutionTimeMs: 3_600_000, createdAt: 1_000, updatedAt: 1_000 },
  });
  const asked = {
    goal: "buy",
    constraints: ["be quick", "be kind"],
    maxIterations: 9,
    maxRetries: 0,
  };
  expect(stateOf(started(own, asked))).toMatchObject({
    ...{ goal: "buy", constraints: ["be quick", "be kind"], maxIterations: 9, maxRetries: 0 },
  });
  expect(stateOf(started({}))).toMatchObject({ goal: "", maxIterations: 50 });
});

test("current nodes, visits, retries and the last error follow the log, singular and plural (S2.8, S2.11, S2.13, S2.14, S2.15, S2.25, S2.27)", () => {
  const retry = { attempts: 4, backoff_ms: 100 };
  const run = startToyRun(
    sketch(["start", { id: "a", retry }, { id: "b", retry }], ["start>a", "start>b"]),
  );
  expect(stateOf(run.state)).toMatchObject({ startedAt: undefined, visitedNodes: [] });
  run.now = 2_000;
  run.complete("start");
  run.claim("b");
  run.now = 3_000;
  run.fail("a", "rate_limit");
  expect(stateOf(run.state)).toMatchObject({
    ...{ currentNode: "a", currentNodes: ["a", "b"], visitedNodes: ["start", "b", "a"] },
    ...{ retryCount: 1, retries: { a: 1 }, maxRetries: 3, lastError: "it broke: rate_limit" },
    ...{ startedAt: 2_000, createdAt: 1_000, updatedAt: 3_000, waitingFor: undefined },
  });
  run.report("b", completed());
  expect(stateOf(run.state)).toMatchObject({
    ...{ status: "retrying", waitingFor: "retry", currentNodes: ["a"] },
    ...{ waitingSince: 3_000, waitingTimeoutAt: 3_100 },
  });
  run.complete("a");
  expect(stateOf(run.state)).toMatchObject({
    ...{ status: "completed", currentNode: "", currentNodes: [], waitingFor: undefined },
    ...{ visitedNodes: ["start", "b", "a"], lastError: "it broke: rate_limit" },
  });
});

test("a bound on retries ends them, whatever the policy (S2.14)", () => {
  const run = startToyRun(
    graphOf({
      ...{ max_retries: 1, nodes: [{ id: "a", type: "task", retry: { attempts: 5 } }] },
    }),
  );
  run.fail("a");
  expect(run.execution("a").status).toBe("queued");
  run.fail("a");
  expect(run.execution("a").status).toBe("failed");
  expect(stateOf(run.state)).toMatchObject({ status: "failed", maxRetries: 1 });
});

test("tokens of every node add up (S2.20)", () => {
  const run = startToyRun(sketch(["start", "a"], ["start>a"]));
  run.complete("start", null, { usage: { inputTokens: 5, outputTokens: 7 } });
  run.complete("a", null, { usage: { inputTokens: 1, outputTokens: 2 } });
  expect(stateOf(run.state).totalTokensUsed).toBe(15);
});

const hold = (id: string, deadlineMs: number): Outcome => ({
  ...{ kind: "held", reason: APPROVAL, phase: "output", durationMs: 1, outputJson: "null" },
  approval: { approvalId: approvalId(id), message: "?", assignees: [], deadlineMs },
});

test("a wait has one reason of a closed list, its beginning and the earliest deadline (S2.17, S2.18, S2.19, X15)", () => {
  const run = startToyRun(sketch(["start", "a", "b", "c"], ["start>a", "start>b", "start>c"]));
  run.complete("start");
  for (const id of ["a", "b", "c"]) run.claim(id);
  run.report("a", hold("0199a000-0000-7000-8000-0000000000a1", 9_000));
  run.report("b", {
    ...{ kind: "child_run", childRunId: runId("0199a000-0000-7000-8000-0000000000c1") },
    ...{ workflowId: "w", version: 0, inputJson: "null", isHandoff: true, durationMs: 1 },
  });
  expect(stateOf(run.state)).toMatchObject({ status: "running", waitingFor: undefined });
  run.now = 5_000;
  run.report("c", hold("0199a000-0000-7000-8000-0000000000a2", 2_000));
  expect(stateOf(run.state)).toMatchObject({
    ...{ status: "waiting", waitingFor: "human_approval", waitingSince: 5_000 },
    waitingTimeoutAt: 7_000,
  });
  const paused = onPause(run.state, { scope: "run", who: "", reason: "" });
  if (paused.kind === "accepted") paused.facts.forEach(run.append);
  expect(stateOf(run.state)).toMatchObject({ status: "paused", waitingFor: "paused" });
});

test("a node that a policy holds is a current node that waits for a person (S2.8, S2.17)", () => {
  const run = startToyRun(
    graphOf({
      nodes: [
        { id: "a", type: "task", taint: ["web"] },
        { id: "pay", type: "task" },
      ],
      edges: [{ source: "a", target: "pay" }],
      policies: [{ action: "hold", nodes: ["pay"], if_tainted_by: ["web"] }],
    }),
  );
  run.complete("a");
  expect(stateOf(run.state)).toMatchObject({
    ...{ status: "waiting", waitingFor: "human_approval", currentNode: "pay" },
  });
});

test("a compensation that backs off is what the run waits for (S2.16, S2.17)", () => {
  const compensation = { type: "task", retry: { attempts: 2, backoff_ms: 4_000, jitter: false } };
  const run = startToyRun(sketch([{ id: "a", type: "task", compensation }, "z"], ["a>z"]));
  run.complete("a");
  run.fail("z");
  const undone = `a#${undoOf(0)}`;
  run.fail(undone, "provider_error", false);
  expect(stateOf(run.state)).toMatchObject({
    ...{ status: "compensating", waitingFor: "retry" },
    waitingTimeoutAt: run.now + 4_000,
  });
});

test("a delay is a wait that ends by itself (S2.17, S2.19)", () => {
  const run = startToyRun(sketch(["start", "a"], ["start>a"]));
  run.complete("start", null, { queueDelayMs: 60_000 });
  expect(stateOf(run.state)).toMatchObject({ waitingFor: "delay", waitingTimeoutAt: 61_000 });
});

test("the JSON has every field by its name of the seed, and keeps the spelling of the memory (S2.24)", () => {
  const run = startToyRun(sketch(["start", { id: "a", write_key: "k" }], ["start>a"]));
  run.complete("start");
  run.claim("a");
  run.report("a", { kind: "completed", outputJson: '{"n": 1.50}', durationMs: 1 });
  const json = workflowStateJson(stateOf(run.state));
  expect(json).toContain('"memory":{"k":{"n": 1.50}}');
  expect(Object.keys(JSON.parse(json) as object).toSorted()).toEqual(
    [
      ...[
        "workflow_id",
        "run_id",
        "goal",
        "constraints",
        "status",
        "current_node",
        "current_nodes",
      ],
      ...[
        "iteration_count",
        "max_iterations",
        "started_at",
        "max_execution_time_ms",
        "retry_count",
      ],
      ...["retries", "max_retries", "last_error", "compensation_stack", "total_tokens_used"],
      ...["total_cost_usd", "memory", "visited_nodes", "visited_nodes_left_out"],
      ...["supervisor_history", "created_at", "updated_at", "event_id"],
    ].toSorted(),
  );
});

test("two states differ by fields and by keys of the memory (S2.35)", () => {
  const run = startToyRun(sketch(["start", { id: "a", write_key: "k" }], ["start>a"]));
  const before = stateOf(run.state);
  run.complete("start");
  run.complete("a", 3);
  expect(stateChanges(before, before)).toEqual([]);
  expect(stateChanges(before, stateOf(run.state))).toEqual([
    { field: "status", from: '"scheduled"', to: '"completed"' },
    { field: "visited_nodes", from: "[]", to: '["start","a"]' },
    { field: "started_at", from: undefined, to: '"1970-01-01T00:00:01.000Z"' },
    { field: "memory.k", from: undefined, to: "3" },
  ]);
});

test("a state lists the newest thousand visits and counts the rest (S2.25)", () => {
  const run = startToyRun(
    graphOf({
      max_iterations: 3_000,
      nodes: [
        { id: "a", type: "task" },
        { id: "b", type: "task" },
      ],
      edges: [
        { source: "a", target: "b" },
        { source: "b", target: "a", source_handle: "again", loop: true },
      ],
    }),
  );
  const play = (id: string, handle?: string): void => {
    const node = run.node(id);
    run.claim(`${id}#${node.base}`);
    run.report(`${id}#${node.base}`, completed(null, handle === undefined ? {} : { handle }));
  };
  for (let round = 0; round < 1_200; round++) {
    play("a");
    play("b", "again");
  }
  const { visitedNodes, visitedNodesLeftOut, iterationCount } = stateOf(run.state);
  expect(visitedNodes).toHaveLength(LIMITS.visitedNodes);
  expect(visitedNodes.length + visitedNodesLeftOut).toBe(2_400);
  expect(iterationCount).toBe(1_200);
});

test("times are written as the standard library writes them", () => {
  fc.assert(
    fc.property(fc.integer({ min: 0, max: 4_102_444_800_000 }), (at) => {
      expect(isoTime(at)).toBe(new Date(at).toISOString());
    }),
    { numRuns: 2_000 },
  );
});
