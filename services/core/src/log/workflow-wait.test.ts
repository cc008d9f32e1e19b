import { expect, test } from "vitest";
import { graphOf, RUN, sketch, startToyRun } from "../../test/toy-run.ts";
import { approvalId, definitionId, runId } from "../name/ids.ts";
import { onPause } from "../plan/pause.ts";
import type { Outcome } from "../plan/result.ts";
import { APPROVAL } from "./event.ts";
import { apply } from "./fold.ts";
import { metadataFact } from "./metadata.ts";
import { type AcceptedStart, startedFact } from "./start.ts";
import { newRunState, type RunState } from "./state.ts";
import { undoOf } from "./undo-iteration.ts";
import { workflowState } from "./workflow-state.ts";
import type { WorkflowState } from "./workflow-state-shape.ts";

const stateOf = (state: RunState): WorkflowState => workflowState(state, { workflowId: "w" });

const START: AcceptedStart = {
  ...{ runId: RUN, tenantId: "t", kind: "saved", definitionDigest: "", workflowId: "w" },
  ...{ workflowVersion: 1, assumesNewest: false, priority: 0, requestId: null, requestHash: null },
  ...{ traceparent: null, createdAt: 1_000, deadlineAt: 50_000, limits: {} },
  ...{ input: "null", parent: null, depth: 0, definitionId: definitionId("d") },
};

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

test("a run that waits for its time says delay until then, and then what it waits for (S2.17, S2.18, S2.19, S4.4)", () => {
  const state = newRunState(RUN, sketch(["start"], []));
  const thread = { threadId: "chat", isCreated: true, strategy: "enqueue" } as const;
  const start = { ...START, startAt: 9_000, thread };
  apply(state, { ...startedFact(start), seq: 1, at: 1_000 });
  const at = (now?: number): WorkflowState => workflowState(state, { workflowId: "w", now });
  const delay = { waitingFor: "delay", waitingSince: 1_000, waitingTimeoutAt: 9_000 };
  expect([at(), at(8_999)]).toMatchObject([delay, delay]);
  const inLine = { waitingFor: "thread", waitingSince: 9_000, waitingTimeoutAt: 50_000 };
  expect(at(9_000)).toMatchObject(inLine);
  apply(state, { ...metadataFact('{"a":1}'), seq: 2, at: 20_000 });
  expect(at(30_000)).toMatchObject({ ...inLine, updatedAt: 20_000 });
});

test("metadata, signals and raises do not move the beginning of a wait (S2.18)", () => {
  const retry = { attempts: 2, backoff_ms: 60_000, jitter: false };
  const run = startToyRun(sketch(["start", { id: "a", retry }], ["start>a"]));
  run.complete("start");
  run.now = 2_000;
  run.fail("a");
  run.now = 5_000;
  run.append(metadataFact('{"a":1}'));
  expect(stateOf(run.state)).toMatchObject({
    ...{ waitingFor: "retry", waitingSince: 2_000, updatedAt: 5_000 },
  });
});

test("a delay is a wait that ends by itself (S2.17, S2.19)", () => {
  const run = startToyRun(sketch(["start", "a"], ["start>a"]));
  run.complete("start", null, { queueDelayMs: 60_000 });
  expect(stateOf(run.state)).toMatchObject({ waitingFor: "delay", waitingTimeoutAt: 61_000 });
});
