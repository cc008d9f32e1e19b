import { expect, test } from "vitest";
import {
  EXECUTOR,
  expanded,
  graphOf,
  sketch,
  startToyRun,
  type ToyRun,
} from "../../test/toy-run.ts";
import { explainNode } from "./explain.ts";
import { proofsOf } from "./proofs.ts";
import type { WaitingRoom } from "./room.ts";
import { waitingReason } from "./stuck.ts";

const FREE = { executorId: EXECUTOR, nodeTypes: ["start", "task"], slots: 2, heldCount: 0 };

function reasonOf(run: ToyRun, room: Partial<WaitingRoom> = {}): string {
  return waitingReason({
    state: run.state,
    proofs: proofsOf(run.events),
    room: { now: run.now, executors: [FREE], leases: [], ...room },
  });
}

const lease = (nodeId: string, epoch: number, now: number) => ({
  leases: [{ nodeId, iteration: 0, epoch, executorId: EXECUTOR, untilAt: now + 1_000 }],
});

test("a run names a node that no executor serves, also while another branch runs", () => {
  const run = startToyRun(sketch(["a", "b", { id: "c", type: "rocket" }], ["a>b", "a>c"]));
  run.complete("a");
  const epoch = run.claim("b");
  expect(reasonOf(run, lease("b", epoch, run.now))).toContain(
    "node c: No connected executor serves type rocket",
  );
});

test("a backoff is named only when no other node of the run is at work", () => {
  const run = startToyRun(
    sketch(["a", { id: "b", retry: { attempts: 2, backoff_ms: 5_000 } }, "c"], ["a>b", "a>c"]),
  );
  run.complete("a");
  run.fail("b");
  const epoch = run.claim("c");
  expect(reasonOf(run, lease("c", epoch, run.now))).toBe("");
  run.report("c", { kind: "completed", outputJson: "1", durationMs: 1 });
  expect(reasonOf(run)).toContain("node b: Attempt 1 ended");
});

test("a run that gets on, and one that is over, wait for nothing", () => {
  const run = startToyRun(sketch(["a"], []));
  expect(reasonOf(run)).toBe("");
  run.complete("a");
  expect(reasonOf(run, { executors: [] })).toBe("");
});

test("a map whose body no executor serves names that reason (S3.30)", () => {
  const config = { items: [], body: { type: "rocket" } };
  const run = startToyRun(sketch(["a", { id: "m", type: "map", config }], ["a>m"]));
  run.complete("a");
  run.claim("m");
  run.report("m", expanded([1, 2]));
  expect(reasonOf(run)).toContain("node m: No connected executor serves type rocket");
  const explanation = explainNode({
    state: run.state,
    proofs: proofsOf(run.events),
    room: { now: run.now, executors: [FREE], leases: [] },
    nodeIndex: run.index("m"),
    iteration: 0,
  });
  expect(explanation).toMatchObject({ reason: "WAITING_ITERATIONS", status: "waiting" });
  expect(explanation.summary).toContain("0 of 2 are settled, 2 are under way");
});

test("a node that waits in a later round of a loop edge is explained as it is in that round (S2.9)", () => {
  const nodes = [
    { id: "a", type: "task", retry: { attempts: 2, backoff_ms: 5_000 } },
    { id: "b", type: "task" },
  ];
  const edges = [
    { source: "a", target: "b" },
    { source: "b", target: "a", source_handle: "again", loop: true },
  ];
  const run = startToyRun(graphOf({ nodes, edges }));
  run.complete("a#0");
  run.complete("b#0", {}, { handle: "again" });
  run.fail("a#1");
  expect(reasonOf(run)).toContain("node a: Attempt 1 ended");
});
