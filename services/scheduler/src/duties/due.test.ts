import { APPROVAL } from "@pawl/core/log/event";
import { approvalId } from "@pawl/core/name/ids";
import { expect, onTestFinished, test } from "vitest";
import { until } from "../../../../test/support/until.ts";
import { createFailingStore, pgError } from "../tick/failing-store.fixture.ts";
import { connect, createEngine, saveGraph } from "../tick/tick.fixture.ts";
import { LeaseGrace } from "./lease-grace.ts";
import { approvalSweeper } from "./sweeps.ts";

const HOUR_MS = 3_600_000;
const ASK = { id: "ask", type: "approval", config: { message: "Ship it?" } };

/** Three runs that wait for a person, each for one second longer than the run before it. */
async function setup() {
  const at = { now: Date.parse("2026-06-15T12:00:00Z") };
  const now = (): number => at.now;
  const store = createFailingStore(now);
  const engine = createEngine(store, now);
  const executor = connect(engine, 3, ["approval"]);
  const definition = await saveGraph(store, { nodes: [ASK] });
  for (let run = 0; run < 3; run += 1) await engine.start(definition);
  const claims = executor.take();
  for (const [index, claim] of claims.entries()) {
    const approval = {
      approvalId: approvalId(crypto.randomUUID()),
      message: "Ship it?",
      assignees: [],
      deadlineMs: 1_000 * (index + 1),
    };
    const held = { kind: "held", reason: APPROVAL, phase: "output", durationMs: 1 } as const;
    await engine.outcome(claim, { ...held, approval });
  }
  const leaseGrace = new LeaseGrace({ renewMs: 1_000, sweepMs: 1_000, now });
  const { executors } = store;
  const parts = {
    ...{ ...engine, executors, leaseGrace, learnClock: async () => undefined },
    ...{ onAlarm: () => undefined, onWebhookDue: () => undefined, onBulkDue: () => undefined },
  };
  const sweeper = approvalSweeper(parts, HOUR_MS, 0);
  onTestFinished(() => sweeper.stop());
  const statusOf = async (index: number): Promise<string | undefined> => {
    const runId = claims[index]?.runId;
    if (runId === undefined) throw new Error(`no run ${index}`);
    const [run] = await store.journal.load([{ runId, afterSeq: 0 }]);
    if (run?.quarantine != null) return "quarantined";
    return run?.events.at(-1)?.type;
  };
  return { at, store, engine, claims, sweeper, statusOf };
}

test("an approval whose end the store refuses for good puts its own run into quarantine, and delays no other (S0.54, S3.37)", async () => {
  const { at, store, claims, sweeper, statusOf } = await setup();
  const bad = claims[0]?.runId;
  store.judge = (runIds) => {
    if (bad !== undefined && runIds.has(bad)) throw pgError("22P05");
  };
  at.now += 2_000;
  sweeper.soon(0);
  await until(async () => (await statusOf(1)) === "run.failed", { what: "the second run to end" });
  await until(async () => (await statusOf(0)) === "quarantined", { what: "the quarantine" });
  // The sweep has set a timer for the third approval although the first one failed. Nothing else would sweep within the hour.
  at.now += 1_000;
  await until(async () => (await statusOf(2)) === "run.failed", { what: "the third run to end" });
});

test("sweeps do not find the approvals of a run in quarantine, and find them again after it (S0.54)", async () => {
  const { at, store, engine, claims, sweeper, statusOf } = await setup();
  const runId = claims[0]?.runId;
  if (runId === undefined) throw new Error("no run");
  await engine.mark(runId, { reason: "EVENT_LOG_CORRUPTION", detail: "a gap" });
  at.now += 10_000;
  expect((await store.journal.dueApprovals(9)).map((due) => due.runId)).not.toContain(runId);
  sweeper.soon(0);
  await until(async () => (await statusOf(2)) === "run.failed", { what: "the other runs to end" });
  expect(await statusOf(0)).toBe("quarantined");
  expect(await store.recovery.release(runId)).toBe(true);
  sweeper.soon(0);
  await until(async () => (await statusOf(0)) === "run.failed", { what: "the first run to end" });
});
