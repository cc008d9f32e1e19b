import { expect, onTestFinished, test } from "vitest";
import type { Handler } from "../handlers/handler.ts";
import { glueHandlers } from "../handlers/glue.ts";
import { registryOf } from "../handlers/registry.ts";
import { attemptRunner } from "../run/attempt.ts";
import { gateHandler } from "./gate-handler.fixture.ts";
import { SchedulerPeer, testAssignment, testClaim } from "./scheduler-peer.fixture.ts";
import { Worker } from "./worker.ts";

const EXECUTOR_ID = "8f8d1b7e-7f0e-4a6e-9d2c-0123456789ab";

async function setup(handlers: readonly Handler[] = []) {
  const peer = await SchedulerPeer.start();
  const registry = registryOf([...glueHandlers, ...handlers]);
  const worker = new Worker({
    executorId: EXECUTOR_ID,
    nodeTypes: [...registry.keys()],
    capacity: 500,
    graceMs: 0,
    settleMs: 0,
    description: "test",
    connect: peer.connect,
    run: attemptRunner(registry),
  });
  onTestFinished(async () => {
    await worker.stop();
    await peer.close();
  });
  worker.start();
  return { peer, worker };
}

test("many assignments share few messages", async () => {
  const { peer } = await setup();
  const connection = await peer.connection();
  await connection.register();
  const count = 400;
  const claims = Array.from({ length: count }, (_, i) => testClaim(BigInt(i + 1)));
  connection.send(...claims.map((claim) => testAssignment(claim, { type: "noop" })));
  const epochs: bigint[] = [];
  for (let i = 0; i < count; i++)
    epochs.push((await connection.heard("outcome")).claim?.epoch ?? 0n);
  expect(epochs).toEqual(claims.map((claim) => claim.epoch));
  expect(connection.messageCount).toBeLessThan(count / 10);
});

test("an outcome is sent again after a broken stream, by the same identity, until it is settled", async () => {
  const { peer, worker } = await setup();
  const claim = testClaim(3n);
  const first = await peer.connection();
  await first.register();
  first.send(testAssignment(claim, { type: "noop" }));
  await first.heard("outcome");
  first.cut();
  const second = await peer.connection();
  const register = await second.register();
  expect(register.executorId).toBe(EXECUTOR_ID);
  expect(register.held).toMatchObject([claim]);
  expect((await second.heard("outcome")).claim).toMatchObject(claim);
  const done = worker.events.once("job:completed");
  second.send({ case: "settled", value: { claim } });
  await done;
  second.cut();
  const third = await peer.connection();
  expect((await third.register()).held).toEqual([]);
});

test("a handler runs on while the stream is broken and reports on the next stream", async () => {
  const { handler, open } = gateHandler();
  const { peer } = await setup([handler]);
  const claim = testClaim(5n);
  const first = await peer.connection();
  await first.register();
  first.send(testAssignment(claim, { type: "gate" }));
  first.cut();
  const second = await peer.connection();
  expect((await second.register()).held).toMatchObject([claim]);
  open("done");
  const outcome = await second.heard("outcome");
  expect(outcome.result.case).toBe("completed");
});

test("a scheduler that drains gets the queued messages, and the executor connects again", async () => {
  const { peer } = await setup();
  const first = await peer.connection();
  await first.register();
  const claim = testClaim(1n);
  first.send(testAssignment(claim, { type: "noop" }), { case: "drain", value: {} });
  await first.left();
  const second = await peer.connection();
  expect((await second.register()).held).toMatchObject([claim]);
  expect((await second.heard("outcome")).claim).toMatchObject(claim);
});

test("a peer that breaks before it answers is tried again", async () => {
  const { peer, worker } = await setup();
  const first = await peer.connection();
  await first.heard("register");
  first.cut();
  const second = await peer.connection();
  await second.register();
  second.send(testAssignment(testClaim(1n), { type: "noop" }));
  await second.heard("outcome");
  expect(worker.isRegistered).toBe(true);
});
