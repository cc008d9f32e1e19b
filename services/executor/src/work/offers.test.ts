import { expect, onTestFinished, test } from "vitest";
import { noopHandler } from "../handlers/noop.ts";
import { registryOf } from "../handlers/registry.ts";
import { attemptRunner } from "../run/attempt.ts";
import type { AttemptResult, RunAttempt } from "./assignments.ts";
import { gateHandler } from "./gate-handler.fixture.ts";
import {
  type ClaimInit,
  type PeerConnection,
  SchedulerPeer,
  testAssignment,
  testClaim,
  testOffer,
} from "./scheduler-peer.fixture.ts";
import { Worker, type WorkerOptions } from "./worker.ts";

const DONE: AttemptResult = { result: { case: "completed", value: {} }, durationMs: 0n };

async function setup(options: Partial<WorkerOptions> = {}) {
  const peer = await SchedulerPeer.start();
  const { handler, ...gate } = gateHandler();
  const worker = new Worker({
    executorId: "8f8d1b7e-7f0e-4a6e-9d2c-0123456789ab",
    nodeTypes: ["noop", "gate"],
    instantTypes: ["noop"],
    slots: 4,
    graceMs: 0,
    settleMs: 0,
    description: "test",
    connect: peer.connect,
    run: attemptRunner(registryOf([noopHandler, handler])),
    ...options,
  });
  onTestFinished(async () => {
    await worker.stop();
    await peer.close();
  });
  worker.start();
  const first = await peer.connection();
  return { peer, worker, first, register: await first.register(), gate };
}

/** Attempts that end when the test says so, whatever becomes of their signal. */
function stubbornRuns() {
  const runs: { readonly signal: AbortSignal; readonly end: () => void }[] = [];
  const run: RunAttempt = async (_assignment, { signal }) => {
    const { promise, resolve } = Promise.withResolvers<AttemptResult>();
    runs.push({ signal, end: () => resolve(DONE) });
    return await promise;
  };
  return { run, runs };
}

/** Has a claim run and reported: all that was said before it is heard by then. */
async function andThen(connection: PeerConnection, epoch: bigint): Promise<void> {
  const claim = testClaim(epoch, "and-then");
  connection.send(testAssignment(claim, { type: "noop" }));
  while ((await connection.heard("outcome")).claim?.nodeId !== claim.nodeId);
}

/** Assigns, and settles when the attempt runs. */
async function take(worker: Worker, connection: PeerConnection, claim: ClaimInit): Promise<void> {
  const claimed = worker.events.once("job:claimed");
  connection.send(testAssignment(claim, { type: "noop" }));
  await claimed;
}

const outcomesOf = (connection: PeerConnection) =>
  connection.items.flatMap((item) => (item.case === "outcome" ? [item.value.claim] : []));

test("an executor names the types that may come as offers when it registers, on every connection", async () => {
  const { peer, first, register } = await setup();
  expect(register.instantTypes).toEqual(["noop"]);
  first.cut();
  const second = await peer.connection();
  expect((await second.register()).instantTypes).toEqual(["noop"]);
});

test("the number of an offer is said with its outcome, and the offer is settled under it", async () => {
  const { worker, first } = await setup();
  const offer = testOffer(7n, 3n);
  first.send(testAssignment(offer, { type: "noop" }));
  expect(await first.heard("outcome")).toMatchObject({
    claim: offer,
    result: { case: "completed" },
  });
  const done = worker.events.once("job:completed");
  first.send({ case: "settled", value: { claim: offer } });
  expect(await done).toEqual({ jobId: `${offer.runId}/n/0/7#3`, runId: offer.runId });
});

test("a renewal names the offers in hand like other claims", async () => {
  const { peer, first, gate } = await setup();
  first.cut();
  const second = await peer.connection();
  await second.register(5, 1_000);
  const [offer, claim] = [testOffer(1n, 1n, "offer"), testClaim(2n, "claim")];
  second.send(testAssignment(offer, { type: "gate" }), testAssignment(claim, { type: "noop" }));
  await gate.started;
  await second.heard("outcome");
  expect((await second.heard("renew")).held).toMatchObject([offer, claim]);
});

test("an offer is dropped with its connection, and named as such to those that follow", async () => {
  const { peer, first } = await setup();
  const [offer, claim] = [testOffer(1n, 1n, "offer"), testClaim(2n, "claim")];
  first.send(testAssignment(offer, { type: "noop" }), testAssignment(claim, { type: "noop" }));
  await first.heard("outcome");
  await first.heard("outcome");
  first.cut();
  const second = await peer.connection();
  expect(await second.register()).toMatchObject({ held: [claim], dropped: [offer] });
  await andThen(second, 3n);
  expect(outcomesOf(second)).toMatchObject([claim, { epoch: 3n }]);
  // That scheduler may have died before it acted on it.
  second.cut();
  const third = await peer.connection();
  expect((await third.register()).dropped).toMatchObject([offer]);
});

test("the handler of an offer is aborted when the stream breaks, and what it gives then is dropped", async () => {
  const { peer, worker, first, gate } = await setup({ slots: 1 });
  first.send(testAssignment(testOffer(1n, 1n), { type: "gate" }));
  await gate.started;
  first.cut();
  await gate.aborted;
  gate.open("too late");
  const second = await peer.connection();
  expect((await second.register()).held).toEqual([]);
  // Its only slot is free again.
  await andThen(second, 2n);
  expect(outcomesOf(second)).toMatchObject([{ epoch: 2n }]);
  expect(second.said).not.toContain("release");
  expect(worker.busyCount).toBe(0);
});

test("a scheduler that drains is told the outcomes of its offers, and the next one of none of them", async () => {
  const { peer, first, gate } = await setup();
  const [ended, running] = [testOffer(1n, 1n, "ended"), testOffer(2n, 2n, "running")];
  first.send(testAssignment(running, { type: "gate" }), testAssignment(ended, { type: "noop" }));
  expect((await first.heard("outcome")).claim).toMatchObject(ended);
  first.send({ case: "drain", value: {} });
  await first.left();
  await gate.aborted;
  const second = await peer.connection();
  expect((await second.register()).held).toEqual([]);
  await andThen(second, 3n);
  expect(outcomesOf(second)).toMatchObject([{ epoch: 3n }]);
});

test("an offer is withdrawn, and the claim of the same epoch that follows is another task", async () => {
  const { worker, first, gate } = await setup();
  const lost: unknown[] = [];
  worker.events.on("job:claim_lost", (event) => lost.push(event));
  const [offer, claim] = [testOffer(1n, 1n), testClaim(1n)];
  first.send(testAssignment(offer, { type: "gate" }));
  await gate.started;
  first.send(
    { case: "claimLost", value: { claim: offer } },
    testAssignment(claim, { type: "noop" }),
  );
  await gate.aborted;
  gate.open("too late");
  await andThen(first, 2n);
  expect(outcomesOf(first)).toMatchObject([claim, { epoch: 2n }]);
  expect(lost).toEqual([]);
  expect(worker.busyCount).toBe(0);
});

test("an offer withdrawn after its outcome was said leaves no trace, and the next one of the same epoch runs", async () => {
  const { peer, first } = await setup();
  const [one, two] = [testOffer(1n, 1n), testOffer(1n, 2n)];
  first.send(testAssignment(one, { type: "noop" }));
  await first.heard("outcome");
  first.send({ case: "claimLost", value: { claim: one } }, testAssignment(two, { type: "noop" }));
  expect((await first.heard("outcome")).claim).toMatchObject(two);
  first.cut();
  const second = await peer.connection();
  expect((await second.register()).held).toEqual([]);
});

test("verdicts about an offer leave other tasks of the same epoch alone", async () => {
  const { worker, first, gate } = await setup();
  const claim = testClaim(1n);
  first.send(testAssignment(claim, { type: "gate" }));
  await gate.started;
  const old = testOffer(1n, 1n);
  first.send(
    { case: "claimLost", value: { claim: old } },
    { case: "cancel", value: { claim: old } },
    { case: "settled", value: { claim: old } },
  );
  await andThen(first, 2n);
  expect(worker.busyCount).toBe(1);
  gate.open("done");
  expect(await first.heard("outcome")).toMatchObject({ claim, result: { case: "completed" } });
});

test("an offer delivered twice on one connection runs once", async () => {
  const { worker, first } = await setup();
  const claimed: string[] = [];
  worker.events.on("job:claimed", ({ jobId }) => claimed.push(jobId));
  const twice = testAssignment(testOffer(1n, 1n), { type: "noop" });
  first.send(twice, twice);
  await andThen(first, 2n);
  expect(outcomesOf(first)).toMatchObject([{ offer: 1n }, { epoch: 2n }]);
  expect(claimed).toHaveLength(2);
});

test("an offer beyond the slots is given back under its number", async () => {
  const { first, gate } = await setup({ slots: 1 });
  const extra = testOffer(2n, 2n, "extra");
  first.send(testAssignment(testClaim(1n), { type: "gate" }));
  await gate.started;
  first.send(testAssignment(extra, { type: "noop" }));
  expect((await first.heard("release")).claim).toMatchObject(extra);
});

test("a worker that leaves names the offers in hand as long as it is connected, and releases what does not end", async () => {
  const { worker, first, gate } = await setup();
  const offer = testOffer(1n, 1n);
  first.send(testAssignment(offer, { type: "gate" }));
  await gate.started;
  const stopped = worker.stop();
  expect(await first.heard("register")).toMatchObject({ slots: 0, held: [offer] });
  expect((await first.heard("release")).claim).toMatchObject(offer);
  await first.heard("goodbye");
  await stopped;
  expect(first.said).not.toContain("outcome");
});

test("a worker that leaves says nothing of an offer it has forgotten, although its handler still ends", async () => {
  const { run, runs } = stubbornRuns();
  const { peer, worker, first } = await setup({ run });
  await take(worker, first, testOffer(1n, 1n));
  first.cut();
  const second = await peer.connection();
  await second.register();
  const claim = testClaim(2n);
  await take(worker, second, claim);
  const stopped = worker.stop();
  expect((await second.heard("release")).claim).toMatchObject(claim);
  for (const { end } of runs) end();
  await second.heard("goodbye");
  await stopped;
  expect(second.said).toEqual(["register", "register", "release", "goodbye"]);
});

test("the handler of a forgotten offer ends without touching one of the same number from the next scheduler", async () => {
  const { run, runs } = stubbornRuns();
  const { peer, worker, first } = await setup({ run });
  const offer = testOffer(1n, 1n);
  await take(worker, first, offer);
  first.cut();
  const second = await peer.connection();
  expect(runs[0]?.signal.aborted).toBe(true);
  await second.register();
  await take(worker, second, offer);
  runs[0]?.end();
  expect(worker.busyCount).toBe(2);
  const stopped = worker.stop();
  // Still known to run: it is given back.
  expect((await second.heard("release")).claim).toMatchObject(offer);
  expect(runs[1]?.signal.aborted).toBe(true);
  runs[1]?.end();
  await second.heard("goodbye");
  await stopped;
  expect(worker.busyCount).toBe(0);
  expect(outcomesOf(second)).toEqual([]);
});
