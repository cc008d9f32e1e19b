import { create } from "@bufbuild/protobuf";
import { RunEventSchema, type RunEvent } from "@pawl/proto/pawl/v1/event_pb";
import { expect, test } from "vitest";
import { Cursor } from "./cursor.ts";

const setup = (options: { afterEventId?: bigint; isFiltered?: boolean } = {}) =>
  new Cursor({ afterEventId: options.afterEventId ?? 0n, isFiltered: options.isFiltered ?? false });

const event = (eventId: number): RunEvent =>
  create(RunEventSchema, { eventId: BigInt(eventId), type: "node.queued" });

const delta = (
  eventId: number,
  deltaIndex: number,
  claim: { epoch?: number; nodeId?: string; iteration?: number } = {},
): RunEvent =>
  create(RunEventSchema, {
    eventId: BigInt(eventId),
    type: "node.stream.delta",
    nodeId: claim.nodeId ?? "write",
    iteration: claim.iteration ?? 0,
    epoch: BigInt(claim.epoch ?? 1),
    fact: { case: "nodeStreamDelta", value: { deltaIndex, text: `${deltaIndex} ` } },
  });

const judgeAll = (cursor: Cursor, events: readonly RunEvent[]) =>
  events.map((one) => cursor.judge(one));

test("an event that was seen before is dropped", () => {
  const cursor = setup();
  expect(judgeAll(cursor, [event(1), event(2), event(1), event(2), event(3)])).toEqual([
    "take",
    "take",
    "drop",
    "drop",
    "take",
  ]);
  expect(cursor.lastEventId).toBe(3n);
});

test("a heartbeat is not an event of the log (S1.45)", () => {
  const cursor = setup({ afterEventId: 7n });
  expect(cursor.judge(create(RunEventSchema, { type: "heartbeat" }))).toBe("drop");
  expect(cursor.lastEventId).toBe(7n);
});

test("a missing event is a gap and leaves the cursor where it was (S1.51)", () => {
  const cursor = setup();
  expect(judgeAll(cursor, [event(1), event(3)])).toEqual(["take", "gap"]);
  expect(cursor.lastEventId).toBe(1n);
});

test("with a filter on types a hole in the ids says nothing", () => {
  const cursor = setup({ isFiltered: true });
  expect(judgeAll(cursor, [event(4), event(9)])).toEqual(["take", "take"]);
});

test("a delta at or below the high-water mark of its node is dropped (S1.49, S1.50)", () => {
  const cursor = setup({ isFiltered: true });
  const verdicts = judgeAll(cursor, [
    delta(2, 0),
    delta(3, 1),
    delta(4, 1),
    delta(5, 0),
    delta(6, 2),
  ]);
  expect(verdicts).toEqual(["take", "take", "drop", "drop", "take"]);
});

test("every node and every iteration has its own mark (S1.50)", () => {
  const cursor = setup({ afterEventId: 1n });
  const events = [
    delta(2, 0),
    delta(3, 0, { nodeId: "other" }),
    delta(4, 0, { iteration: 1 }),
    delta(5, 1),
    delta(6, 1, { nodeId: "other" }),
  ];
  expect(judgeAll(cursor, events)).toEqual(["take", "take", "take", "take", "take"]);
});

test("the index grows over the claims of a node; a delta of an older claim is dropped (S1.49, S1.50)", () => {
  const cursor = setup();
  cursor.judge(event(1));
  const verdicts = judgeAll(cursor, [
    delta(2, 0, { epoch: 1 }),
    delta(3, 1, { epoch: 1 }),
    event(4),
    delta(5, 2, { epoch: 4 }),
    delta(6, 2, { epoch: 1 }),
    delta(7, 3, { epoch: 4 }),
  ]);
  expect(verdicts).toEqual(["take", "take", "take", "take", "drop", "take"]);
});

test("a delta that is missing between two claims is a gap (S1.51)", () => {
  const cursor = setup();
  const seen = [event(1), delta(2, 0, { epoch: 1 }), event(3), delta(4, 2, { epoch: 3 })];
  expect(judgeAll(cursor, seen)).toEqual(["take", "take", "take", "gap"]);
});

test("in a log of an older release a new claim counts from 0 again (S1.50)", () => {
  const cursor = setup();
  cursor.judge(event(1));
  const verdicts = judgeAll(cursor, [
    delta(2, 0, { epoch: 1 }),
    delta(3, 1, { epoch: 1 }),
    event(4),
    delta(5, 0, { epoch: 4 }),
    delta(6, 2, { epoch: 1 }),
    delta(7, 1, { epoch: 4 }),
  ]);
  expect(verdicts).toEqual(["take", "take", "take", "take", "drop", "take"]);
});

test("a missing delta is a gap once; there again after the reopening it is the log's own (S1.51)", () => {
  const cursor = setup();
  cursor.judge(event(1));
  expect(judgeAll(cursor, [delta(2, 0), delta(3, 2)])).toEqual(["take", "gap"]);
  expect(cursor.lastEventId).toBe(2n);
  expect(judgeAll(cursor, [delta(3, 2), delta(4, 3)])).toEqual(["take", "take"]);
});

test("a watch that joins in the middle knows no index of a claim that begins later", () => {
  const cursor = setup({ afterEventId: 10n });
  expect(judgeAll(cursor, [event(11), delta(12, 7, { epoch: 11 })])).toEqual(["take", "take"]);
});

test("a watch that joins a claim in the middle takes its next delta as it comes", () => {
  const cursor = setup({ afterEventId: 10n });
  expect(judgeAll(cursor, [delta(11, 7, { epoch: 3 }), delta(12, 8, { epoch: 3 })])).toEqual([
    "take",
    "take",
  ]);
});
