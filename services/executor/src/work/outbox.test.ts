import { create, toBinary } from "@bufbuild/protobuf";
import { LIMITS } from "@pawl/core/data/limits";
import { ManualTimers } from "@pawl/platform/lifecycle/manual-timers.fixture";
import {
  GateKind,
  GateSchema,
  WorkRequestSchema,
} from "@pawl/proto/pawl/worker/v1/worker_service_pb";
import * as fc from "fast-check";
import { expect, test } from "vitest";
import { renewal, type OutcomeInit, type WorkerItemInit } from "./fenced-writer.ts";
import { Outbox } from "./outbox.ts";
import { testClaim } from "./scheduler-peer.fixture.ts";

fc.configureGlobal({ seed: 1 });

const claimOf = (epoch: number) => ({
  ...testClaim(BigInt(epoch)),
  $typeName: "pawl.worker.v1.Claim" as const,
});
const completed = (bytes: number): OutcomeInit => ({
  result: { case: "completed", value: { outputJson: new Uint8Array(bytes) } },
});
const held = (bytes: number): OutcomeInit => ({
  result: {
    case: "held",
    value: { reason: "flagged", completed: { outputJson: new Uint8Array(bytes) } },
  },
});
const sizeOf = (items: readonly WorkerItemInit[]): number =>
  toBinary(WorkRequestSchema, create(WorkRequestSchema, { items: [...items] })).length;

function setup() {
  const time = new ManualTimers();
  let wakes = 0;
  const outbox = new Outbox(() => void (wakes += 1), time);
  /** Everything that waits, message by message. */
  const takeAll = (): (readonly WorkerItemInit[])[] => {
    const messages = [];
    for (let items = outbox.take(); items.length > 0; items = outbox.take()) messages.push(items);
    return messages;
  };
  const casesOf = () => takeAll().flatMap((items) => items.map(({ item }) => item?.case));
  return { outbox, time, takeAll, casesOf, wakes: () => wakes };
}

test("all messages of an executor are sent in order, within the size limit", () => {
  const sizes = fc.array(
    fc.tuple(fc.constantFrom(completed, held), fc.nat({ max: LIMITS.valueBytes })),
    { maxLength: 12 },
  );
  fc.assert(
    fc.property(sizes, (said) => {
      const { outbox, takeAll } = setup();
      for (const [index, [make, bytes]] of said.entries())
        outbox.outcome(outbox.open(claimOf(index + 1)), make(bytes));
      const messages = takeAll();
      for (const items of messages)
        if (items.length > 1) expect(sizeOf(items)).toBeLessThanOrEqual(LIMITS.batchBytes);
      const epochs = messages
        .flat()
        .map(({ item }) => (item?.case === "outcome" ? item.value.claim?.epoch : undefined));
      expect(epochs).toEqual(said.map((_, index) => BigInt(index + 1)));
    }),
    { numRuns: 30 },
  );
});

test("an outcome that fits no message becomes a failure that names its size", () => {
  const { outbox, takeAll } = setup();
  const detailsJson = new Uint8Array(LIMITS.itemBytes);
  const gate = create(GateSchema, {
    kind: GateKind.CONTRACT_VIOLATED,
    phase: "output",
    detailsJson,
  });
  outbox.outcome(outbox.open(claimOf(1)), { ...completed(10), gates: [gate] });
  const [[item] = []] = takeAll();
  const result = item?.item?.case === "outcome" ? item.item.value.result : undefined;
  expect(result).toMatchObject({
    case: "failed",
    value: {
      cause: "output_too_large",
      message: expect.stringMatching(/takes \d{7} bytes; at most \d{7} bytes/),
      permanent: true,
    },
  });
});

test("media that no scheduler accepts is left out, and a log line reports it", async () => {
  const { outbox, casesOf } = setup();
  const entry = outbox.open(claimOf(1));
  await outbox.media(entry, { url: `data:,${"x".repeat(5 * 1024 * 1024)}`, mime: "text/plain" });
  await outbox.media(entry, { url: "data:,x", mime: "text/plain" });
  expect(casesOf()).toEqual(["log", "delta"]);
});

test("every claim of an executor with the most slots, twice over, is named within one message", () => {
  const nodeId = "n".repeat(128);
  const claims = Array.from({ length: 20_000 }, (_, index) => ({
    ...claimOf(index + 1_000_000_000_000),
    nodeId,
    iteration: LIMITS.scopeWidth,
  }));
  expect(sizeOf([renewal(claims, { silentMs: 86_400_000, giveUpMs: 86_400_000 })])).toBeLessThan(
    LIMITS.messageBytes,
  );
});

test("unacknowledged messages are sent again in order, with growing waits, until they are acknowledged", async () => {
  const { outbox, time, casesOf } = setup();
  const entry = outbox.open(claimOf(1));
  outbox.log(entry, "info", "hello");
  outbox.outcome(entry, completed(10));
  expect(casesOf()).toEqual(["log", "outcome"]);
  await time.advance(1_000);
  expect(casesOf()).toEqual([]);
  await time.advance(4_000);
  expect(casesOf()).toEqual(["log", "outcome"]);
  await time.advance(3_000);
  expect(casesOf()).toEqual([]);
  await time.advance(6_000);
  expect(casesOf()).toEqual(["log", "outcome"]);
  entry.acknowledge(0, 1);
  outbox.close(entry);
  await time.advance(600_000);
  expect(casesOf()).toEqual([]);
});

test("a claim that is never answered is repeated at most once a minute in the end, and never twice at once", async () => {
  const { outbox, time, casesOf } = setup();
  outbox.outcome(outbox.open(claimOf(1)), completed(10));
  casesOf();
  let repeats = 0;
  for (let minute = 0; minute < 60; minute += 1) {
    await time.advance(60_000);
    const said = casesOf();
    expect(said.length).toBeLessThanOrEqual(1);
    repeats += said.length;
  }
  expect(repeats).toBeGreaterThan(20);
});

test("a stopped outbox and a running claim send nothing again", async () => {
  const { outbox, time, casesOf, wakes } = setup();
  outbox.open(claimOf(1));
  outbox.outcome(outbox.open(claimOf(2)), completed(10));
  casesOf();
  outbox.stop();
  await time.advance(600_000);
  expect(casesOf()).toEqual([]);
  expect(wakes()).toBe(1);
});
