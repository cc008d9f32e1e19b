import { expect, test } from "vitest";
import { EXECUTOR, RUN, sketch, startToyRun, type ToyRun } from "../../test/toy-run.ts";
import { explainNode } from "./explain.ts";
import { proofsOf } from "./proofs.ts";
import type { SlotWait, WaitingRoom } from "./room.ts";
import { slotsToAsk, waitingReason } from "./stuck.ts";

const FREE = { executorId: EXECUTOR, nodeTypes: ["start", "task"], slots: 2, heldCount: 0 };
const OWNER = { tenantId: "t", workflowId: "orders", runId: RUN };
const LIMITED = {
  id: "a",
  concurrency: { key: "{{ ctx.input.shop }}", limit: 2 },
  rate: { key: "mail", limit: 2, per_ms: 10_000 },
};
const wait = (over: Partial<SlotWait>): SlotWait => ({
  nodeId: "a",
  iteration: 0,
  kind: "slot",
  limit: 2,
  takenCount: 0,
  holders: [],
  aheadCount: 0,
  ...over,
});

const roomOf = (run: ToyRun, slotWaits: readonly SlotWait[]): WaitingRoom => ({
  now: run.now,
  executors: [FREE],
  leases: [],
  slotWaits,
});

function explained(run: ToyRun, slotWaits: readonly SlotWait[]) {
  const proofs = proofsOf(run.events);
  const question = { state: run.state, proofs, room: roomOf(run, slotWaits) };
  return {
    ...explainNode({ ...question, nodeIndex: 0, iteration: 0 }),
    ofRun: waitingReason(question),
  };
}

const limited = (): ToyRun => startToyRun(sketch([LIMITED], []), { shop: "shop-7" });

test("a node that waits for a slot names the key, its holders and how many are before it", () => {
  const holders = [
    { runId: "r1", nodeId: "work", iteration: 3 },
    { runId: "r2", nodeId: "", iteration: 0 },
  ];
  const found = explained(limited(), [wait({ takenCount: 4, holders, aheadCount: 3 })]);
  expect(found).toMatchObject({
    reason: "WAITING_SLOT",
    status: "queued",
    summary:
      'It waits for a slot of concurrency key "shop-7": all 2 are taken, by work[3] of run r1, run r2 and 2 more; 3 others are before it.',
    evidence: [{ seq: 2, type: "node.queued" }],
    slot: { key: "shop-7", kind: "slot", limit: 2, takenCount: 4, aheadCount: 3, holders },
  });
  expect(found.ofRun).toContain('node a: It waits for a slot of concurrency key "shop-7"');
});

test("a node that waits for a rate says when its turn can come: round after round, behind those before it", () => {
  const run = limited();
  const freeAt = run.now + 4_000;
  const at = (aheadCount: number) => explained(run, [wait({ kind: "rate", aheadCount, freeAt })]);
  expect(at(0)).toMatchObject({
    reason: "WAITING_RATE",
    summary:
      'It waits for a start under rate key "mail", 2 in any 10 s; it is next in line, so it starts in 4 s at the earliest.',
    untilAt: freeAt,
  });
  expect(at(1).untilAt).toBe(freeAt);
  expect(at(5).untilAt).toBe(freeAt + 20_000);
  const unknown = explained(run, [wait({ kind: "rate" })]);
  expect(unknown.untilAt).toBeUndefined();
  expect(unknown.summary).toMatch(/it is next in line\.$/);
});

test("a node that has its slots is explained as any other", () => {
  expect(explained(limited(), []).reason).toBe("QUEUED");
});

test("only queued nodes with limits are asked about, under the keys by which they are counted", () => {
  const run = limited();
  expect(slotsToAsk(run.state, OWNER)).toEqual([
    { nodeId: "a", iteration: 0, kind: "slot", key: "t/slot/node/orders/shop-7" },
    { nodeId: "a", iteration: 0, kind: "rate", key: "t/rate/node/orders/mail" },
  ]);
  run.claim("a");
  expect(slotsToAsk(run.state, OWNER)).toEqual([]);
});

test("a run that has not begun says what it waits for, itself and each of its nodes", () => {
  const run = limited();
  run.state.isAdmitted = false;
  run.state.status = "pending";
  run.state.slot = { key: "c1", limit: 1, scope: "workflow" };
  expect(slotsToAsk(run.state, OWNER)[0]).toEqual({
    nodeId: "",
    iteration: 0,
    kind: "slot",
    key: "t/slot/run/orders/c1",
  });
  const holders = [{ runId: "r1", nodeId: "", iteration: 0 }];
  const found = explained(run, [wait({ nodeId: "", limit: 1, takenCount: 1, holders })]);
  const words =
    'It waits for a slot of concurrency key "c1": all 1 are taken, by run r1; it is next in line.';
  expect(found).toMatchObject({ reason: "WAITING_SLOT", summary: `The run is pending. ${words}` });
  expect(found.ofRun).toBe(words);
  expect(explained(run, []).summary).toBe("The run was accepted and begins next.");
});
