import { create, toBinary } from "@bufbuild/protobuf";
import { LIMITS } from "@pawl/core/data/limits";
import { ManualTimers } from "@pawl/platform/lifecycle/manual-timers.fixture";
import {
  SchedulerItemSchema,
  WorkResponseSchema,
} from "@pawl/proto/pawl/worker/v1/worker_service_pb";
import { expect, test } from "vitest";
import { turns, until } from "../../../../test/support/until.ts";
import { Outgoing, type WorkStream } from "./outgoing.ts";
import type { SchedulerItemInit } from "../commit/executor.ts";

const SETTLED: SchedulerItemInit = { item: { case: "settled", value: {} } };
const RENEWED: SchedulerItemInit = { item: { case: "renewed", value: {} } };

/** An assignment of about this size. */
const assignment = (bytes: number): SchedulerItemInit => ({
  item: { case: "assignment", value: { contextJson: new Uint8Array(bytes) } },
});

function setup({ isTaken = true } = {}) {
  const messages: (string | undefined)[][] = [];
  const sizes: number[] = [];
  const waiting: (() => void)[] = [];
  const write: WorkStream["write"] = ({ items = [] }, onSent = () => {}) => {
    messages.push(items.map((item) => create(SchedulerItemSchema, item).item.case));
    sizes.push(toBinary(WorkResponseSchema, create(WorkResponseSchema, { items })).length);
    if (isTaken) queueMicrotask(onSent);
    else waiting.push(onSent);
    return true;
  };
  const time = new ManualTimers();
  // Nothing else of the stream is used to send.
  const outgoing = new Outgoing({ write } as WorkStream, time);
  /** The other side takes the oldest message that waits. */
  const takeOne = (): void => waiting.shift()?.();
  return { outgoing, messages, sizes, time, takeOne };
}

test("items of one turn of the event loop leave as one message, in order", async () => {
  const { outgoing, messages } = setup();
  for (const item of [RENEWED, SETTLED, RENEWED]) outgoing.push(item);
  await turns(2);
  expect(messages).toEqual([["renewed", "settled", "renewed"]]);
});

test("the answer 'settled' waits for the next item, and leaves before it", async () => {
  const { outgoing, messages, time } = setup();
  outgoing.push(SETTLED);
  await turns(2);
  expect(messages).toEqual([]);
  outgoing.push(RENEWED);
  await turns(2);
  await time.advance(1_000);
  expect(messages).toEqual([["settled", "renewed"]]);
});

test("the answer 'settled' leaves by itself, once, if no other item comes", async () => {
  const { outgoing, messages, time } = setup();
  outgoing.push(SETTLED);
  outgoing.push(SETTLED);
  await time.advance(1_000);
  expect(messages).toEqual([["settled", "settled"]]);
});

test("large items leave in several messages, in order, none of which is above the limit", async () => {
  const { outgoing, messages, sizes } = setup();
  for (let each = 0; each < 20; each += 1) outgoing.push(assignment(400_000));
  outgoing.push(RENEWED);
  await until(() => messages.flat().length === 21, { what: "all items" });
  expect(messages.flat().slice(0, 20)).toEqual(Array.from({ length: 20 }, () => "assignment"));
  expect(messages.flat().at(-1)).toBe("renewed");
  expect(Math.max(...sizes)).toBeLessThanOrEqual(LIMITS.batchBytes);
});

test("an item at the limit of one item leaves alone, within the limit of a message", async () => {
  const { outgoing, messages, sizes } = setup();
  for (const item of [RENEWED, assignment(LIMITS.itemBytes), RENEWED]) outgoing.push(item);
  await until(() => messages.flat().length === 3, { what: "all items" });
  expect(messages).toEqual([["renewed"], ["assignment"], ["renewed"]]);
  expect(Math.max(...sizes)).toBeLessThanOrEqual(LIMITS.messageBytes);
});

test("a stream that takes nothing gets two messages at most, and the rest as it takes them; only what left is called sent", async () => {
  const { outgoing, messages, takeOne } = setup({ isTaken: false });
  const sent: number[] = [];
  for (let each = 0; each < 6; each += 1)
    outgoing.push(assignment(LIMITS.batchBytes - 1_000), () => sent.push(each));
  await turns(3);
  expect(messages).toHaveLength(2);
  expect(sent).toEqual([]);
  for (let each = 0; each < 6; each += 1) takeOne();
  expect(sent).toEqual([0, 1, 2, 3, 4, 5]);
  expect(messages).toHaveLength(6);
});
