import * as fc from "fast-check";
import { expect, test } from "vitest";
import { completed, failed, graphOf, RUN, sketch, startToyRun } from "../../test/toy-run.ts";
import { LIMITS } from "../data/limits.ts";
import type { Outcome } from "../plan/result.ts";
import { workflowState } from "./workflow-state.ts";
import type { WorkflowState } from "./workflow-state-shape.ts";
import { stateChanges } from "./workflow-state-diff.ts";
import { isoTime, workflowStateJson } from "./workflow-state-json.ts";
import { newRunState, type RunState } from "./state.ts";
import { apply } from "./fold.ts";
import { startedFact, type AcceptedStart } from "./start.ts";
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
  expect(stateOf(started({}))).toMatchObject({
    goal: "",
    maxIterations: 50,
    maxRetries: undefined,
  });
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

test("a reader without a label gets no text that has it: errors, reasons and payloads of the stack (S2.40, S2.42)", () => {
  const compensation = { type: "task" };
  const nodes = [
    { id: "page", type: "task", taint: ["web"], compensation },
    { id: "own", type: "task", compensation },
    { id: "mail", type: "task", retry: { attempts: 2, jitter: false } },
    { id: "boss", type: "supervisor", config: { routes: [{ id: "go", when: "true" }] } },
    { id: "end", type: "task" },
  ];
  const edges = [
    ...[
      ["page", "mail"],
      ["own", "end"],
      ["mail", "boss"],
    ].map(([source, target]) => ({ source, target })),
    { source: "boss", source_handle: "go", target: "end" },
  ];
  const run = startToyRun(graphOf({ nodes, edges }));
  run.complete("page", "secret");
  run.complete("own", "fine");
  run.claim("mail");
  run.report("mail", { ...failed(), message: "secret is no address" } as Outcome);
  const shown = (...labels: string[]): WorkflowState =>
    workflowState(run.state, { workflowId: "w", labels: new Set(labels) });
  expect(shown("web").lastError).toBe("secret is no address");
  expect(shown().lastError).toBe("");
  const payloads = (state: WorkflowState): string[] =>
    state.compensationStack.map(({ compensationAction }) => compensationAction.payloadJson);
  expect([payloads(shown("web")), payloads(shown())]).toEqual([
    ['"secret"', '"fine"'],
    ["null", '"fine"'],
  ]);
  run.complete("mail", "sent");
  run.complete("boss", { route: "go", reason: "the page says so" }, { handle: "go" });
  const reasons = [shown("web"), shown()].map((state) => state.supervisorHistory);
  expect(reasons).toMatchObject([[{ reason: "the page says so" }], [{ reason: "", route: "go" }]]);
  expect(stateOf(run.state)).toMatchObject({ lastError: "secret is no address" });
});

test("the nodes that a compensation undoes are the current nodes (S2.8, S2.13, S2.14, S2.16)", () => {
  const compensation = { type: "task", retry: { attempts: 3, jitter: false } };
  const nodes = ["start", { id: "a", compensation }, { id: "b", compensation }, "z"];
  const run = startToyRun(sketch(nodes, ["start>a", "start>b", "a>z", "b>z"]));
  for (const id of ["start", "a", "b"]) run.complete(id);
  run.fail("z");
  expect(stateOf(run.state)).toMatchObject({ status: "compensating", currentNodes: [] });
  run.claim(`b#${undoOf(0)}`);
  run.now = 3_000;
  run.fail(`a#${undoOf(0)}`, "provider_error", false);
  expect(stateOf(run.state)).toMatchObject({
    ...{ currentNode: "a", currentNodes: ["a", "b"], retryCount: 1, maxRetries: 2 },
  });
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
      ...["retries", "last_error", "compensation_stack", "total_tokens_used"],
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
