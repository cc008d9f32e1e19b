import {
  CancelReason,
  EffectClass,
  EffectState,
  SessionState,
} from "@pawl/proto/pawl/handler/v1/handler_service_pb";
import { EffectState as Ledger } from "@pawl/proto/pawl/worker/v1/worker_service_pb";
import { expect, test, vi } from "vitest";
import { testAssignment, testClaim } from "../work/scheduler-peer.fixture.ts";
import { assigned, setup } from "./host.fixture.ts";

test.each([
  ["cancel", CancelReason.CANCELLED],
  ["claimLost", CancelReason.CLAIM_LOST],
] as const)("%s of the scheduler reaches the process at once", async (name, reason) => {
  const at = await setup();
  const { claim, invocationId } = await assigned(at);
  at.scheduler.send({ case: name, value: { claim } });
  expect(await at.process.received("cancel")).toMatchObject({ invocationId, reason });
});

test("a timeout is reported while the function runs, and its slot stays taken until it has returned", async () => {
  const at = await setup({ slots: 2 });
  const { invocationId } = await assigned(at, { timeoutMs: 20 });
  expect(await at.process.received("cancel")).toMatchObject({ reason: CancelReason.TIMEOUT });
  const { result } = await at.scheduler.heard("outcome");
  expect(result).toMatchObject({ case: "failed", value: { cause: "timeout" } });
  // The scheduler gets the smaller number of slots before the outcome frees one.
  const slots = () =>
    at.scheduler.items.flatMap((item) => (item.case === "register" ? [item.value.slots] : []));
  expect(slots()).toEqual([2, 1]);
  expect(at.scheduler.said.lastIndexOf("register")).toBeLessThan(
    at.scheduler.said.indexOf("outcome"),
  );
  await at.seen({ busy: 1 });
  at.process.send({ case: "ended", value: { invocationId } });
  await vi.waitFor(() => expect(slots()).toEqual([2, 1, 2]));
  await at.seen({ busy: 0, lateItems: 0n });
});

test("the slot of a function that ignores its cancel is not given to other work", async () => {
  const at = await setup({ slots: 1 });
  const { claim, invocationId } = await assigned(at);
  at.scheduler.send({ case: "cancel", value: { claim } });
  await at.process.received("cancel");
  const next = testClaim(2n, "next");
  at.scheduler.send(testAssignment(next, { type: "acme.echo" }));
  expect((await at.scheduler.heard("release")).claim).toMatchObject(next);
  await at.seen({ busy: 1, ignoring: 1 });
  at.process.send({ case: "ended", value: { invocationId } });
  await at.seen({ busy: 0, ignoring: 0, ignoringMs: 0n });
  await vi.waitFor(() =>
    expect(at.scheduler.items.at(-1)).toMatchObject({ case: "register", value: { slots: 1 } }),
  );
  await assigned(at, {}, 3n);
});

test("a cancel before the Invoke is written takes it back: the process never sees it, and its slot is free", async () => {
  const checked = Promise.withResolvers<void>();
  const clean = { ok: true as const, findings: [] };
  const moderation = {
    ...{ contextChars: 1, stepChars: 1 },
    check: () => checked.promise.then(() => clean),
    checkStretch: () => ({ ...clean, clear: 0 }),
  };
  const at = await setup({}, { moderation });
  const claim = testClaim(1n);
  at.scheduler.send(
    testAssignment(claim, { type: "acme.echo", more: { moderation: "input" } }),
    testAssignment(testClaim(2n, "seen"), { type: "acme.echo" }),
  );
  const { invocationId } = await at.process.received("invoke");
  await at.process.cut();
  await at.seen({ state: SessionState.CUT });
  // The input is clean by now, so the Invoke waits for a stream. The cancel comes first.
  checked.resolve();
  await at.seen({ busy: 2 });
  at.scheduler.send({ case: "cancel", value: { claim } });
  await at.seen({ busy: 1 });
  await at.process.resume();
  at.process.send({ case: "result", value: { invocationId, outputJson: "1" } });
  await at.scheduler.heard("outcome");
  await at.seen({ busy: 0, lateItems: 0n });
  expect(at.process.names.filter((name) => name === "invoke")).toHaveLength(1);
  expect(at.process.names).not.toContain("cancel");
});

test("a cancelled function of a session that is lost is gone: nothing is reported and nothing is released", async () => {
  const at = await setup();
  const { claim } = await assigned(at);
  at.scheduler.send({ case: "cancel", value: { claim } });
  await at.process.received("cancel");
  await at.seen({ busy: 1 });
  await at.process.cut();
  await at.seen({ state: SessionState.CUT });
  await at.time.advance(3_000);
  await at.scheduler.left();
  expect(await at.sessions()).toEqual([]);
  expect(at.scheduler.said).not.toContain("outcome");
  expect(at.scheduler.said).not.toContain("release");
  expect((await at.process.resume()).case).toBe("lost");
});

test("a late result is dropped and counted, and frees the slot", async () => {
  const at = await setup();
  const { claim, invocationId } = await assigned(at);
  at.scheduler.send({ case: "cancel", value: { claim } });
  await at.process.received("cancel");
  at.process.send({ case: "result", value: { invocationId, outputJson: "1" } });
  await at.seen({ busy: 0, lateItems: 1n });
  at.process.send({ case: "result", value: { invocationId, outputJson: "1" } });
  at.process.send({ case: "ended", value: { invocationId } });
  await at.seen({ busy: 0, lateItems: 2n });
  expect(at.scheduler.said).not.toContain("outcome");
});

test("effects go through the ledger of the scheduler", async () => {
  const at = await setup();
  const { claim, invocationId } = await assigned(at);
  const begin = (name: string, effectClass: EffectClass = EffectClass.IDEMPOTENT) =>
    at.process.send({ case: "effectBegin", value: { invocationId, name, effectClass } });
  for (const [name, ledger, state] of [
    ["new", Ledger.NEW, EffectState.NEW],
    ["before", Ledger.BEGUN_BEFORE, EffectState.BEGUN_BEFORE],
    ["refused", Ledger.REFUSED, EffectState.REFUSED],
  ] as const) {
    begin(name);
    expect(await at.scheduler.heard("effectBegin")).toMatchObject({ claim, name });
    at.scheduler.send({ case: "effectBegun", value: { claim, name, state: ledger } });
    expect(await at.process.received("effectBegun")).toMatchObject({ invocationId, name, state });
  }
  begin("made");
  await at.scheduler.heard("effectBegin");
  const resultJson = Buffer.from('{"receipt":1.50}');
  const made = { claim, name: "made", state: Ledger.COMMITTED, resultJson };
  at.scheduler.send({ case: "effectBegun", value: made });
  expect(await at.process.received("effectBegun")).toMatchObject({
    state: EffectState.COMMITTED,
    resultJson: '{"receipt":1.50}',
  });
  // A name that was begun in this invocation, and a class that is none, never reach the ledger.
  begin("new");
  begin("no-class", EffectClass.UNSPECIFIED);
  for (const name of ["new", "no-class"])
    expect(await at.process.received("effectBegun")).toMatchObject({
      name,
      state: EffectState.REFUSED,
    });
});

test("a result of an effect is in the ledger before the outcome", async () => {
  const at = await setup();
  const { claim, invocationId } = await assigned(at);
  at.process.send(
    { case: "effectCommit", value: { invocationId, name: "charge", resultJson: '{"id":7}' } },
    { case: "effectCommit", value: { invocationId, name: "broken", resultJson: "{" } },
    { case: "result", value: { invocationId, outputJson: "1" } },
  );
  await at.scheduler.heard("outcome");
  const names = at.scheduler.said;
  expect(names.indexOf("effectCommit")).toBeLessThan(names.indexOf("outcome"));
  expect(await at.process.received("effectCommitted")).toMatchObject({
    name: "broken",
    state: EffectState.REFUSED,
  });
  const committed = { claim, name: "charge", state: Ledger.COMMITTED };
  at.scheduler.send({ case: "effectCommitted", value: committed });
  expect(await at.process.received("effectCommitted")).toMatchObject({
    name: "charge",
    state: EffectState.COMMITTED,
  });
});

test("after a cancel every effect is revoked, also one that waits for the ledger", async () => {
  const at = await setup();
  const { claim, invocationId } = await assigned(at);
  const begin = (name: string) =>
    at.process.send({
      case: "effectBegin",
      value: { invocationId, name, effectClass: EffectClass.AT_MOST_ONCE },
    });
  begin("waits");
  await at.scheduler.heard("effectBegin");
  at.scheduler.send({ case: "cancel", value: { claim } });
  expect(await at.process.received("effectBegun")).toMatchObject({
    name: "waits",
    state: EffectState.REVOKED,
  });
  begin("late");
  expect(await at.process.received("effectBegun")).toMatchObject({
    name: "late",
    state: EffectState.REVOKED,
  });
  at.process.send({ case: "effectCommit", value: { invocationId, name: "late" } });
  expect(await at.process.received("effectCommitted")).toMatchObject({
    state: EffectState.REVOKED,
  });
});
