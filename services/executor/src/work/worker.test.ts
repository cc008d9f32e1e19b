import { expect, onTestFinished, test, vi } from "vitest";
import { z } from "zod";
import { createLogger } from "@pawl/platform/telemetry/log";
import { Failed } from "@pawl/core/handler/failure";
import { defineHandler, type Handler } from "../handlers/handler.ts";
import { glueHandlers } from "../handlers/glue.ts";
import { registryOf } from "../handlers/registry.ts";
import { attemptRunner } from "../run/attempt.ts";
import { observed } from "../run/observed.ts";
import { gateHandler } from "./gate-handler.fixture.ts";
import { SchedulerPeer, testAssignment, testClaim } from "./scheduler-peer.fixture.ts";
import { Worker, type WorkerOptions } from "./worker.ts";
import type { WorkerEventName } from "@pawl/platform/queue/worker-events";

const EXECUTOR_ID = "8f8d1b7e-7f0e-4a6e-9d2c-0123456789ab";

async function setup(handlers: readonly Handler[] = [], options: Partial<WorkerOptions> = {}) {
  const peer = await SchedulerPeer.start();
  const registry = registryOf([...glueHandlers, ...handlers]);
  const worker = new Worker({
    executorId: EXECUTOR_ID,
    nodeTypes: [...registry.keys()],
    capacity: 4,
    graceMs: 0,
    settleMs: 0,
    description: "test",
    connect: peer.connect,
    run: attemptRunner(registry),
    ...options,
  });
  const events: string[] = [];
  const names: WorkerEventName[] = [
    "worker:started",
    "worker:stopped",
    "job:claimed",
    "job:completed",
    "job:failed",
    "job:released",
    "job:dead_letter",
    "job:claim_lost",
  ];
  for (const name of names) worker.events.on(name, () => events.push(name));
  onTestFinished(async () => {
    await worker.stop();
    await peer.close();
  });
  worker.start();
  return { peer, worker, events };
}

test("registers first, with its identity, its types and its slots (S0.16, S0.21, S0.33)", async () => {
  const { peer, events } = await setup();
  const connection = await peer.connection();
  const register = await connection.register();
  expect(register).toMatchObject({
    executorId: EXECUTOR_ID,
    nodeTypes: expect.arrayContaining(["noop"]),
    slots: 4,
    held: [],
  });
  expect(events).toEqual(["worker:started"]);
});

test("an assignment is run and its outcome reported until it is settled (S0.27, S0.28)", async () => {
  const { peer, worker, events } = await setup();
  const connection = await peer.connection();
  await connection.register();
  const claim = testClaim(7n);
  connection.send(testAssignment(claim, { type: "noop" }));
  const outcome = await connection.heard("outcome");
  expect(outcome.claim).toMatchObject(claim);
  expect(outcome.result.case).toBe("completed");
  expect(events).not.toContain("job:completed");
  const done = worker.events.once("job:completed");
  connection.send({ case: "settled", value: { claim } });
  expect(await done).toEqual({ jobId: `${claim.runId}/n/0/7`, runId: claim.runId });
  expect(events).toEqual(["worker:started", "job:claimed", "job:completed"]);
});

test("a worker distinguishes failures that may be retried from final ones (S0.29, S0.31)", async () => {
  const flaky = defineHandler({
    type: "flaky",
    config: z.strictObject({ isFinal: z.boolean() }),
    run: (_input, { config: { isFinal } }) => {
      throw isFinal
        ? new Failed("acme.broken", "no", { permanent: true })
        : new Failed("rate_limit", "later");
    },
  });
  const { peer, worker } = await setup([flaky]);
  const connection = await peer.connection();
  await connection.register();
  const cases = [
    { isFinal: false, event: "job:failed", cause: "rate_limit" },
    { isFinal: true, event: "job:dead_letter", cause: "acme.broken" },
  ] as const;
  for (const [index, { isFinal, event, cause }] of cases.entries()) {
    const claim = testClaim(BigInt(index + 1));
    connection.send(testAssignment(claim, { type: "flaky", config: { isFinal } }));
    const outcome = await connection.heard("outcome");
    expect(outcome.result).toMatchObject({ case: "failed", value: { cause, permanent: isFinal } });
    const told = worker.events.once(event);
    connection.send({ case: "settled", value: { claim } });
    expect((await told).error).not.toBe("");
  }
});

test("after a lost claim the handler is aborted and the executor sends no more about it (S0.32, S0.44)", async () => {
  const { handler, open, aborted } = gateHandler();
  const { peer, worker } = await setup([handler]);
  const connection = await peer.connection();
  await connection.register();
  const lost = testClaim(1n, "lost");
  const other = testClaim(2n, "other");
  connection.send(testAssignment(lost, { type: "gate" }));
  const told = worker.events.once("job:claim_lost");
  connection.send({ case: "claimLost", value: { claim: lost } });
  expect(await told).toMatchObject({ runId: lost.runId });
  await aborted;
  open("too late");
  connection.send(testAssignment(other, { type: "noop" }));
  expect((await connection.heard("outcome")).claim).toMatchObject(other);
  expect(connection.said.filter((name) => name === "outcome")).toHaveLength(1);
  expect(worker.busyCount).toBe(0);
});

test("the outcome of a lost claim is not sent again on the next connection (S0.40)", async () => {
  const { peer, worker } = await setup();
  const claim = testClaim(1n);
  const first = await peer.connection();
  await first.register();
  first.send(testAssignment(claim, { type: "noop" }));
  await first.heard("outcome");
  const told = worker.events.once("job:claim_lost");
  first.send({ case: "claimLost", value: { claim } });
  await told;
  first.cut();
  const second = await peer.connection();
  expect((await second.register()).held).toEqual([]);
});

test("a cancelled run's handler is aborted and nothing is reported (S1.38, S1.39)", async () => {
  const { handler, started, aborted } = gateHandler();
  const { peer, events } = await setup([handler]);
  const connection = await peer.connection();
  await connection.register();
  const claim = testClaim(1n);
  connection.send(testAssignment(claim, { type: "gate" }));
  await started;
  connection.send({ case: "cancel", value: { claim } });
  await aborted;
  const next = testClaim(2n);
  connection.send(testAssignment(next, { type: "noop" }));
  expect((await connection.heard("outcome")).claim).toMatchObject(next);
  expect(events).not.toContain("job:claim_lost");
});

test("verdicts about claims that are not held are ignored", async () => {
  const { peer, events } = await setup();
  const connection = await peer.connection();
  await connection.register();
  const ghost = testClaim(99n);
  connection.send(
    { case: "settled", value: { claim: ghost } },
    { case: "claimLost", value: { claim: ghost } },
    { case: "cancel", value: { claim: ghost } },
    { case: "streamed", value: { claim: ghost, deltaCount: 4, logCount: 2 } },
    { case: "settled", value: {} },
    testAssignment(testClaim(1n), { type: "noop" }),
  );
  await connection.heard("outcome");
  expect(events).toEqual(["worker:started", "job:claimed"]);
});

test("the same assignment delivered twice runs once", async () => {
  const { peer, events } = await setup();
  const connection = await peer.connection();
  await connection.register();
  const twice = testAssignment(testClaim(1n), { type: "noop" });
  connection.send(twice, twice, testAssignment(testClaim(2n), { type: "noop" }));
  await connection.heard("outcome");
  expect((await connection.heard("outcome")).claim?.epoch).toBe(2n);
  expect(events.filter((name) => name === "job:claimed")).toHaveLength(2);
});

test("an assignment beyond the slots is given back at once (S0.30)", async () => {
  const { handler, open } = gateHandler();
  const { peer, worker } = await setup([handler], { capacity: 1 });
  const connection = await peer.connection();
  await connection.register();
  const [kept, extra] = [testClaim(1n), testClaim(2n, "extra")];
  const told = worker.events.once("job:released");
  connection.send(testAssignment(kept, { type: "gate" }), testAssignment(extra, { type: "gate" }));
  expect((await connection.heard("release")).claim).toMatchObject(extra);
  await told;
  open(1);
  expect((await connection.heard("outcome")).claim).toMatchObject(kept);
});

test("an executor runs as many attempts as it has slots, and each end makes room for the next at once (S4.3)", async () => {
  const { handler, open } = gateHandler();
  const lines: string[] = [];
  const log = createLogger({
    ...{ service: "test", level: "debug" },
    destination: { write: (line) => void lines.push(line) },
  });
  const run = observed(attemptRunner(registryOf([handler])), { isTracing: false, log });
  const { peer, worker } = await setup([handler], { capacity: 2, run });
  const connection = await peer.connection();
  expect((await connection.register()).slots).toBe(2);
  const claims = ["a", "b", "c"].map((node, at) => testClaim(BigInt(at + 1), node));
  const [first, second, third] = claims.map((claim) => testAssignment(claim, { type: "gate" }));
  if (first === undefined || second === undefined || third === undefined) throw new Error("three");
  const released = worker.events.once("job:released");
  connection.send(first, second, third);
  // There is no third slot, and an idle executor asks for nothing: the scheduler assigns.
  await released;
  expect((await connection.heard("release")).claim).toMatchObject({ nodeId: "c" });
  open(1);
  expect((await connection.heard("outcome")).claim).toMatchObject({ nodeId: "a" });
  connection.send(third);
  const ended = [await connection.heard("outcome"), await connection.heard("outcome")];
  expect(new Set(ended.map(({ claim }) => claim?.nodeId))).toEqual(new Set(["b", "c"]));
  const tasks = lines.map((line) => String((JSON.parse(line) as { task: unknown }).task));
  expect(new Set(tasks)).toEqual(
    new Set(claims.map(({ runId, nodeId }) => `run-${runId}-${nodeId}-attempt-1`)),
  );
});

test("one renewal names every claim held, running or not yet settled (S0.23)", async () => {
  const { handler } = gateHandler();
  const { peer } = await setup([handler]);
  const connection = await peer.connection();
  await connection.register(5, 60_000);
  const [running, ended] = [testClaim(1n, "a"), testClaim(2n, "b")];
  connection.send(
    testAssignment(running, { type: "gate" }),
    testAssignment(ended, { type: "noop" }),
  );
  await connection.heard("outcome");
  const both = await connection.heard("renew");
  expect(both.held).toMatchObject([running, ended]);
  connection.send({ case: "settled", value: { claim: ended } }, { case: "renewed", value: {} });
  for (;;) {
    const { held } = await connection.heard("renew");
    if (held.length === 2) continue;
    expect(held).toMatchObject([running]);
    break;
  }
});

test("a worker for a process of a user names the process and its types, and renews with its silence", async () => {
  const process = { name: "billing", build: "b1", sdk: "raw 1", language: "go" };
  const descriptors = [{ type: "acme.charge", inputSchema: "{}" }];
  const silence = () => ({ silentMs: 1_234.4, giveUpMs: 987.6 });
  const { peer } = await setup([], { process, descriptors, silence });
  const connection = await peer.connection();
  expect(await connection.register(5, 1_000)).toMatchObject({ process, descriptors });
  expect(await connection.heard("renew")).toMatchObject({ silentMs: 1_234n, giveUpMs: 988n });
});

test("a worker offers another number of slots on the same stream, and again after a reconnect", async () => {
  const { peer, worker } = await setup();
  const connection = await peer.connection();
  await connection.register();
  worker.resize(0);
  expect((await connection.heard("register")).slots).toBe(0);
  connection.send(testAssignment(testClaim(1n), { type: "noop" }));
  await connection.heard("release");
  worker.resize(2);
  expect((await connection.heard("register")).slots).toBe(2);
  connection.cut();
  const second = await peer.connection();
  expect((await second.register()).slots).toBe(2);
});

test("a worker that abandons its session sends no Goodbye, releases what it was asked to, and aborts the rest", async () => {
  const { handler, aborted } = gateHandler();
  const { peer, worker } = await setup([handler]);
  const connection = await peer.connection();
  await connection.register();
  const [ended, lost, given] = [testClaim(1n, "a"), testClaim(2n, "b"), testClaim(3n, "c")];
  connection.send(
    testAssignment(ended, { type: "noop" }),
    testAssignment(lost, { type: "gate" }),
    testAssignment(given, { type: "gate" }),
  );
  await connection.heard("outcome");
  await vi.waitFor(() => expect(worker.busyCount).toBe(2));
  worker.release(({ nodeId }) => nodeId === "c");
  await worker.abandon();
  await aborted;
  await connection.left();
  expect((await connection.heard("release")).claim).toMatchObject(given);
  expect(connection.said.filter((name) => name === "outcome" || name === "release")).toHaveLength(
    2,
  );
  expect(connection.said).not.toContain("goodbye");
});
