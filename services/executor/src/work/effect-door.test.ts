// The effect ledger over a real stream: repeated questions, refused ones, and the order of messages.

import { EffectClass, EffectState } from "@pawl/proto/pawl/worker/v1/worker_service_pb";
import { expect, onTestFinished, test } from "vitest";
import { defineHandler, type TaskContext } from "../handlers/handler.ts";
import { registryOf } from "../handlers/registry.ts";
import { attemptRunner } from "../run/attempt.ts";
import { SchedulerPeer, testAssignment, testClaim } from "./scheduler-peer.fixture.ts";
import { Worker } from "./worker.ts";

async function setup(run: (ctx: TaskContext) => Promise<unknown>) {
  const peer = await SchedulerPeer.start();
  const handler = defineHandler({
    type: "pay",
    run: (_input, ctx) => run(ctx),
  });
  const worker = new Worker({
    executorId: "8f8d1b7e-7f0e-4a6e-9d2c-0123456789ab",
    nodeTypes: ["pay"],
    capacity: 4,
    graceMs: 0,
    settleMs: 0,
    description: "test",
    connect: peer.connect,
    run: attemptRunner(registryOf([handler])),
  });
  onTestFinished(async () => {
    await worker.stop();
    await peer.close();
  });
  worker.start();
  const connection = await peer.connection();
  await connection.register();
  return { peer, worker, connection };
}

const pay = (make: () => Promise<unknown>) => (ctx: TaskContext) =>
  ctx.once("charge", "at_most_once", make);

test("an effect is begun before it is made, under the task's claim, and its result is sent before the outcome (S0.45)", async () => {
  let made = 0;
  const { connection } = await setup(pay(async () => ++made));
  const claim = testClaim(7n);
  connection.send(testAssignment(claim, { type: "pay" }));
  const begin = await connection.heard("effectBegin");
  expect(begin).toMatchObject({ claim, name: "charge", class: EffectClass.AT_MOST_ONCE });
  expect(made).toBe(0);
  connection.send({
    case: "effectBegun",
    value: { claim, name: "charge", state: EffectState.NEW },
  });
  const outcome = await connection.heard("outcome");
  expect(outcome.claim).toMatchObject(claim);
  const commit = connection.items.find((item) => item.case === "effectCommit");
  expect(commit?.value).toMatchObject({ claim, name: "charge" });
  expect(connection.said.indexOf("effectCommit")).toBeLessThan(connection.said.indexOf("outcome"));
});

test("a question without an answer is asked again on the next connection, and a result too", async () => {
  const { peer, connection } = await setup(pay(async () => 1));
  const claim = testClaim(8n);
  connection.send(testAssignment(claim, { type: "pay" }));
  await connection.heard("effectBegin");
  connection.cut();
  const second = await peer.connection();
  await second.register();
  expect(await second.heard("effectBegin")).toMatchObject({ claim, name: "charge" });
  second.send({ case: "effectBegun", value: { claim, name: "charge", state: EffectState.NEW } });
  await second.heard("outcome");
  second.cut();
  const third = await peer.connection();
  await third.register();
  await third.heard("outcome");
  expect(third.said.filter((name) => name?.startsWith("effect"))).toEqual(["effectCommit"]);
});

test("if a claim is lost while its effect is begun, the handler makes no effect and sends no more (S0.40, S0.44)", async () => {
  let made = 0;
  const ended = Promise.withResolvers<unknown>();
  const { worker, connection } = await setup(async (ctx) => {
    try {
      return await pay(async () => ++made)(ctx);
    } catch (error) {
      ended.resolve(error);
      throw error;
    }
  });
  const lost = worker.events.once("job:claim_lost");
  const claim = testClaim(9n);
  connection.send(testAssignment(claim, { type: "pay" }));
  await connection.heard("effectBegin");
  connection.send({ case: "claimLost", value: { claim } });
  await lost;
  expect(await ended.promise).toMatchObject({ reason: "STALE_CLAIM" });
  expect(made).toBe(0);
  // Another task's outcome shows that the stream has moved on.
  const next = testClaim(10n);
  connection.send(testAssignment(next, { type: "pay" }));
  await connection.heard("effectBegin");
  expect(connection.said).not.toContain("outcome");
  expect(connection.said).not.toContain("effectCommit");
});

test("one name is begun once in an attempt", async () => {
  const { connection } = await setup(async (ctx) => {
    const [, second] = await Promise.allSettled([
      ctx.once("charge", "idempotent", () => 1),
      ctx.once("charge", "idempotent", () => 2),
    ]);
    return second.status;
  });
  const claim = testClaim(11n);
  connection.send(testAssignment(claim, { type: "pay" }));
  await connection.heard("effectBegin");
  connection.send({
    case: "effectBegun",
    value: { claim, name: "charge", state: EffectState.NEW },
  });
  const { result } = await connection.heard("outcome");
  const output = result.case === "completed" ? Buffer.from(result.value.outputJson) : "";
  expect(String(output)).toBe('"rejected"');
});

test("a task may ask for more time (S0.9)", async () => {
  const { connection } = await setup(async (ctx) => {
    await ctx.extend(90_000);
    return "in time";
  });
  const claim = testClaim(12n);
  connection.send(testAssignment(claim, { type: "pay" }));
  expect(await connection.heard("extend")).toMatchObject({ claim, extendMs: 90_000n });
  connection.send({ case: "extended", value: { claim } });
  expect((await connection.heard("outcome")).result.case).toBe("completed");
});
