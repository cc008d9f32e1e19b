import { expect, test } from "vitest";
import { cancel, diamond, done, undo } from "../../test/saga.ts";
import { EXECUTOR, type ToyRun } from "../../test/toy-run.ts";
import { undoOf } from "../log/undo-iteration.ts";
import { explainNode } from "./explain.ts";
import { proofsOf } from "./proofs.ts";
import { waitingReason } from "./stuck.ts";

function ask(run: ToyRun, node: string, nodeTypes: readonly string[] = ["undo"]) {
  const executors = [{ executorId: EXECUTOR, nodeTypes, slots: 2, heldCount: 0 }];
  const room = { now: run.now, executors, leases: [] };
  const about = { state: run.state, proofs: proofsOf(run.events), room };
  const place = { nodeIndex: run.index(node), iteration: undoOf(0) };
  return { told: explainNode({ ...about, ...place }), waiting: waitingReason(about) };
}

test("a compensation explains that it waits for those behind it, and how it ended (S2.16)", () => {
  const run = diamond();
  done(run, "s", "a", "b");
  expect(ask(run, "a").told).toMatchObject({ reason: "DECIDING", status: "pending" });
  cancel(run);
  expect(ask(run, "a").told).toMatchObject({
    reason: "WAITING_PARENTS",
    summary: expect.stringContaining("in reverse order"),
    evidence: [expect.objectContaining({ type: "run.status.changed" })],
  });
  run.complete(undo("b"));
  expect(ask(run, "b").told).toMatchObject({ reason: "COMPLETED" });
  run.fail(undo("a"));
  expect(ask(run, "a").told).toMatchObject({ reason: "FAILED" });
});

test("a run whose compensation no executor serves says so (S2.16)", () => {
  const run = diamond();
  done(run, "s", "a");
  cancel(run);
  const { told, waiting } = ask(run, "a", ["task"]);
  expect(told).toMatchObject({ reason: "NO_EXECUTOR" });
  expect(waiting).toContain("the compensation of node a: No connected executor serves type undo");
});
