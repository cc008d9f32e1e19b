import { CancelReason } from "@pawl/proto/pawl/handler/v1/handler_service_pb";
import { expect, test, vi } from "vitest";
import { testAssignment, testClaim } from "../work/scheduler-peer.fixture.ts";
import { assigned, setup } from "./host.fixture.ts";

const [OPEN, STALLED, CUT, DRAINING] = [1, 2, 3, 4] as const;

test("a cut shorter than resume_ms is invisible: nothing is lost and nothing is doubled", async () => {
  const at = await setup();
  const first = await assigned(at);
  const second = await assigned(at, {}, 2n);
  await at.process.cut();
  await at.seen({ state: CUT, busy: 2 });
  // The result is made while there is no stream.
  at.process.send({ case: "result", value: { ...first, outputJson: '"first"' } });
  await at.time.advance(2_900);
  expect((await at.process.resume()).case).toBe("welcome");
  expect((await at.scheduler.heard("outcome")).claim).toMatchObject(first.claim);
  at.process.send({ case: "result", value: { ...second, outputJson: '"second"' } });
  expect((await at.scheduler.heard("outcome")).claim).toMatchObject(second.claim);
  await at.seen({ state: OPEN, busy: 0, lateItems: 0n });
  expect(at.process.names.filter((name) => name === "invoke")).toHaveLength(2);
});

test("items that arrived before the cut and come again are dropped", async () => {
  const at = await setup();
  const { invocationId } = await assigned(at);
  const partial = {
    case: "partial" as const,
    value: { invocationId, piece: { case: "text" as const, value: "once" } },
  };
  at.process.send(partial);
  await at.process.received("streamed");
  // The same number once more, as after a cut before heard_seq came back.
  at.process.raw({ firstSeq: 1n, items: [{ item: partial }] });
  at.process.send({ case: "result", value: { invocationId, outputJson: "1" } });
  await at.scheduler.heard("outcome");
  const deltas = at.scheduler.items.filter((item) => item.case === "delta");
  expect(deltas).toMatchObject([{ value: { text: "once" } }]);
});

test("a process that does not have an item gets it again on its next stream, with its old number", async () => {
  const at = await setup();
  const { invocationId } = await assigned(at, {}, 1n);
  at.process.isSilent = true;
  await assigned(at, {}, 2n);
  const opening = { case: "resume" as const, value: { sessionId: at.process.sessionId } };
  // The process says that it has the first item only.
  await at.process.begin({ opening, heardSeq: 1n });
  await vi.waitFor(() => expect(at.process.repeats).toBe(1));
  at.process.send({ case: "result", value: { invocationId, outputJson: "1" } });
  await at.scheduler.heard("outcome");
  expect(at.process.names.filter((name) => name === "invoke")).toHaveLength(2);
});

test("a longer cut is a lost delivery: the Work stream ends without Goodbye, and Resume gets Lost", async () => {
  const at = await setup();
  await assigned(at);
  await at.process.cut();
  await at.seen({ state: CUT });
  await at.time.advance(3_000);
  await at.scheduler.left();
  expect(at.scheduler.said).not.toContain("goodbye");
  expect(at.scheduler.said).not.toContain("release");
  expect(await at.sessions()).toEqual([]);
  expect((await at.process.resume()).case).toBe("lost");
});

test("an assignment on its way to a cut session is released at once, and only written work is lost", async () => {
  const at = await setup();
  const { claim: written } = await assigned(at);
  await at.process.cut();
  await at.seen({ state: CUT });
  // No new work comes while the session is cut, but this one was on its way.
  const unwritten = testClaim(2n, "unwritten");
  at.scheduler.send(testAssignment(unwritten, { type: "acme.echo" }));
  expect((await at.scheduler.heard("release")).claim).toMatchObject(unwritten);
  await at.time.advance(3_000);
  await at.scheduler.left();
  const released = at.scheduler.items.filter((item) => item.case === "release");
  expect(released).toHaveLength(1);
  expect(released[0]?.value).not.toMatchObject({ claim: written });
});

test("work that waits for a stream when the session is lost is released, because the process cannot have seen it", async () => {
  const checked = Promise.withResolvers<void>();
  const moderation = {
    ...{ contextChars: 1, stepChars: 1 },
    check: async () => {
      await checked.promise;
      return { ok: true as const, findings: [] };
    },
    checkStretch: () => ({ ok: true as const, findings: [], clear: 0 }),
  };
  const at = await setup({}, { moderation });
  const claim = testClaim(1n);
  at.scheduler.send(
    testAssignment(claim, { type: "acme.echo", more: { moderation: "input" } }),
    testAssignment(testClaim(2n, "seen"), { type: "acme.echo" }),
  );
  await at.process.received("invoke");
  await at.process.cut();
  await at.seen({ state: CUT, busy: 1 });
  // The input is clean, so the attempt invokes its handler: the invocation waits for the next stream, which does not come.
  checked.resolve();
  await at.seen({ state: CUT, busy: 2 });
  await at.time.advance(3_000);
  await at.scheduler.left();
  const released = at.scheduler.items.filter((item) => item.case === "release");
  expect(released).toMatchObject([{ value: { claim } }]);
  expect(at.process.names.filter((name) => name === "invoke")).toHaveLength(1);
});

test("a cut or stalled session gets no new work and keeps its slots for later", async () => {
  const at = await setup({ slots: 3 });
  const slots = () =>
    at.scheduler.items.flatMap((item) => (item.case === "register" ? [item.value.slots] : []));
  await at.process.cut();
  await vi.waitFor(() => expect(slots()).toEqual([3, 0]));
  await at.process.resume();
  await vi.waitFor(() => expect(slots()).toEqual([3, 0, 3]));
});

test("a silent process is stalled, its claims are renewed with its silence, and it recovers", async () => {
  const at = await setup();
  at.scheduler.registered(10, 1_000);
  at.process.isSilent = true;
  const { claim, invocationId } = await assigned(at);
  await at.time.advance(15_000);
  await at.seen({ state: STALLED, busy: 1 });
  await vi.waitFor(() => {
    const renew = at.scheduler.items.findLast((item) => item.case === "renew");
    expect(renew?.value).toMatchObject({ held: [claim], silentMs: 15_000n, giveUpMs: 45_000n });
  });
  await at.time.advance(44_000);
  await at.seen({ state: STALLED });
  at.process.isSilent = false;
  at.process.send({ case: "result", value: { invocationId, outputJson: "1" } });
  await at.scheduler.heard("outcome");
  await at.seen({ state: OPEN, busy: 0 });
});

test("after stall_ms a silent process is lost, and its late result counts for nothing", async () => {
  const at = await setup();
  at.process.isSilent = true;
  const { invocationId } = await assigned(at);
  await at.time.advance(60_000);
  expect((await at.process.closed()).error).toMatchObject({ reason: "STALE_CLAIM" });
  await at.scheduler.left();
  at.process.send({ case: "result", value: { invocationId, outputJson: "1" } });
  expect((await at.process.resume()).case).toBe("lost");
  expect(at.scheduler.said).not.toContain("outcome");
});

test("the most patient running handler decides how long a silent process is kept", async () => {
  const handlers = [{ type: "acme.echo" }, { type: "acme.slow", stallMs: 300_000n }];
  const at = await setup({ handlers });
  at.process.isSilent = true;
  await assigned(at, { type: "acme.slow" });
  await at.time.advance(299_999);
  await at.seen({ state: STALLED });
  await at.time.advance(1);
  await at.scheduler.left();
});

test("a live process answers pings and stays open", async () => {
  const at = await setup();
  for (let nth = 0; nth < 20; nth += 1) {
    await at.time.advance(5_000);
    await at.process.received("ping");
    await at.seen({ state: OPEN, silentMs: 0n });
  }
});

test("a gap in the numbers ends the stream, and the process resumes without a loss", async () => {
  const at = await setup();
  const { invocationId } = await assigned(at);
  at.process.raw({ firstSeq: 9n, items: [{ item: { case: "pong", value: {} } }] });
  expect((await at.process.closed()).error).toMatchObject({
    reason: "INPUT_INVALID",
    metadata: { field: "first_seq" },
  });
  await at.process.resume();
  at.process.send({ case: "result", value: { invocationId, outputJson: "1" } });
  await at.scheduler.heard("outcome");
});

test("heard_seq beyond what the host sent ends the stream", async () => {
  const at = await setup();
  at.process.raw({ heardSeq: 99n });
  expect((await at.process.closed()).error).toMatchObject({ metadata: { field: "heard_seq" } });
});

test("the newest stream counts, and the host ends the older one", async () => {
  const at = await setup();
  const { invocationId } = await assigned(at);
  const older = at.process.closed();
  await at.process.resume();
  expect((await older).error).toMatchObject({ reason: "SESSION_IN_USE" });
  await at.seen({ state: OPEN });
  at.process.send({ case: "result", value: { invocationId, outputJson: "1" } });
  await at.scheduler.heard("outcome");
});

test("Room changes the slots", async () => {
  const at = await setup({ slots: 1 });
  at.process.send({ case: "room", value: { slots: 5 } });
  await at.scheduler.heard("register").then(({ slots }) => expect(slots).toBe(5));
  await at.seen({ slots: 5 });
  at.process.send({ case: "room", value: { slots: 0 } });
  expect((await at.process.closed()).error).toMatchObject({ metadata: { field: "room.slots" } });
  await at.process.resume();
  await at.seen({ slots: 5, state: OPEN });
});

test("a leaving process finishes what it has, and the host ends its stream", async () => {
  const at = await setup();
  const { claim, invocationId } = await assigned(at);
  at.process.send({ case: "leaving", value: {} });
  await at.seen({ state: DRAINING });
  const next = testClaim(2n, "next");
  at.scheduler.send(testAssignment(next, { type: "acme.echo" }));
  expect((await at.scheduler.heard("release")).claim).toMatchObject(next);
  at.process.send({ case: "result", value: { invocationId, outputJson: "1" } });
  await at.scheduler.heard("outcome");
  at.scheduler.send({ case: "settled", value: { claim } });
  await at.scheduler.heard("goodbye");
  expect(await at.process.closed()).toEqual({});
  expect(await at.sessions()).toEqual([]);
});

test("a process that leaves without work knows at the end of its stream that the host has everything", async () => {
  const at = await setup();
  at.process.send({ case: "leaving", value: {} });
  await at.scheduler.heard("goodbye");
  expect(await at.process.closed()).toEqual({});
  expect(at.process.unheardCount).toBe(0);
});

test("a host that stops drains: the process gets Drain, and finishes within the grace period", async () => {
  const at = await setup({}, { graceMs: 60_000 });
  const { claim, invocationId } = await assigned(at);
  const stopped = at.host.stop();
  await at.process.received("drain");
  await expect(at.join().hello()).rejects.toMatchObject({ reason: "DRAINING" });
  at.process.send({ case: "result", value: { invocationId, outputJson: "1" } });
  await at.scheduler.heard("outcome");
  at.scheduler.send({ case: "settled", value: { claim } });
  await at.scheduler.heard("goodbye");
  await stopped;
  expect(at.process.names).not.toContain("cancel");
});

test("a process that is cut off while the host stops resumes within the grace period, and nothing is lost", async () => {
  const at = await setup({}, { graceMs: 60_000, settleMs: 60_000 });
  const { claim, invocationId } = await assigned(at);
  const stopped = at.host.stop();
  await at.process.received("drain");
  await at.process.cut();
  await at.seen({ state: CUT, busy: 1 });
  expect((await at.process.resume()).case).toBe("welcome");
  await at.seen({ state: DRAINING, busy: 1 });
  at.process.send({ case: "result", value: { invocationId, outputJson: "1" } });
  expect((await at.scheduler.heard("outcome")).claim).toMatchObject(claim);
  at.scheduler.send({ case: "settled", value: { claim } });
  await at.scheduler.heard("goodbye");
  await stopped;
});

test("a function that outlasts the grace period is cancelled with DRAINED, and its claim goes back", async () => {
  const at = await setup();
  const { claim } = await assigned(at);
  const stopped = at.host.stop();
  expect(await at.process.received("cancel")).toMatchObject({ reason: CancelReason.DRAINED });
  expect((await at.scheduler.heard("release")).claim).toMatchObject(claim);
  await stopped;
});
