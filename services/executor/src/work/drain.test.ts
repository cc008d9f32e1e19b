import { expect, onTestFinished, test } from "vitest";
import { registryOf } from "../handlers/registry.ts";
import { attemptRunner } from "../run/attempt.ts";
import { gateHandler } from "./gate-handler.fixture.ts";
import { SchedulerPeer, testAssignment, testClaim } from "./scheduler-peer.fixture.ts";
import { Worker } from "./worker.ts";

async function setup(graceMs: number) {
  const { handler, open, started, aborted } = gateHandler();
  const peer = await SchedulerPeer.start();
  onTestFinished(() => peer.close());
  const worker = new Worker({
    executorId: "8f8d1b7e-7f0e-4a6e-9d2c-0123456789ab",
    nodeTypes: ["gate"],
    capacity: 2,
    graceMs,
    description: "test",
    connect: peer.connect,
    run: attemptRunner(registryOf([handler])),
  });
  worker.start();
  const connection = await peer.connection();
  await connection.register();
  return { peer, worker, connection, open, started, aborted };
}

test("a stopping worker takes no more work, finishes its attempts and sends goodbye (S0.26, S0.47, S0.34)", async () => {
  const { worker, connection, open, started } = await setup(60_000);
  const [mine, late] = [testClaim(1n, "mine"), testClaim(2n, "late")];
  connection.send(testAssignment(mine, { type: "gate" }));
  await started;
  const stopped = worker.stop();
  expect(await connection.heard("register")).toMatchObject({ slots: 0, held: [mine] });
  connection.send(testAssignment(late, { type: "gate" }));
  expect((await connection.heard("release")).claim).toMatchObject(late);
  open("done");
  expect((await connection.heard("outcome")).result.case).toBe("completed");
  connection.send({ case: "settled", value: { claim: mine } });
  await connection.heard("goodbye");
  await stopped;
  expect(connection.said.at(-1)).toBe("goodbye");
});

test("an attempt that still runs after the grace period is aborted and released, never acknowledged (S0.48, S0.49, S0.51, X18)", async () => {
  const { worker, connection, started, aborted } = await setup(1);
  const claim = testClaim(4n);
  const released = worker.events.once("job:released");
  connection.send(testAssignment(claim, { type: "gate" }));
  await started;
  const stopped = worker.stop();
  expect((await connection.heard("release")).claim).toMatchObject(claim);
  await connection.heard("goodbye");
  await aborted;
  await stopped;
  expect(await released).toMatchObject({ runId: claim.runId });
  expect(connection.said).not.toContain("outcome");
});

test("if a scheduler refuses an executor without slots, its outcomes go through on a new stream", async () => {
  const { peer, worker, connection, open, started } = await setup(60_000);
  const claim = testClaim(1n);
  connection.send(testAssignment(claim, { type: "gate" }));
  await started;
  const stopped = worker.stop();
  await connection.heard("register");
  connection.refuse();
  const second = await peer.connection();
  expect(await second.register()).toMatchObject({ slots: 1, held: [claim] });
  open("done");
  expect((await second.heard("outcome")).result.case).toBe("completed");
  second.send({ case: "settled", value: { claim } });
  await second.heard("goodbye");
  await stopped;
});

test("a worker whose scheduler is gone still stops", async () => {
  const { peer, worker, connection } = await setup(1);
  connection.cut();
  await peer.connection();
  await worker.stop();
  expect(worker.isRegistered).toBe(false);
});

test("stopping twice is stopping once", async () => {
  const { worker } = await setup(1);
  expect(worker.stop()).toBe(worker.stop());
  await worker.stop();
});
