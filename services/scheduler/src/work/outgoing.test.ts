import { create } from "@bufbuild/protobuf";
import { ManualTimers } from "@pawl/platform/lifecycle/manual-timers.fixture";
import { SchedulerItemSchema } from "@pawl/proto/pawl/worker/v1/worker_service_pb";
import { expect, test } from "vitest";
import { turns } from "../../../../test/support/until.ts";
import { Outgoing, type WorkStream } from "./outgoing.ts";
import type { SchedulerItemInit } from "./session.ts";

const SETTLED: SchedulerItemInit = { item: { case: "settled", value: {} } };
const RENEWED: SchedulerItemInit = { item: { case: "renewed", value: {} } };

function setup() {
  const messages: (string | undefined)[][] = [];
  const write: WorkStream["write"] = ({ items = [] }) => {
    messages.push(items.map((item) => create(SchedulerItemSchema, item).item.case));
    return true;
  };
  const time = new ManualTimers();
  // Nothing else of the stream is used to send.
  const outgoing = new Outgoing({ write } as WorkStream, time);
  return { outgoing, messages, time };
}

test("what is said in one turn of the event loop leaves as one message, in order", async () => {
  const { outgoing, messages } = setup();
  for (const item of [RENEWED, SETTLED, RENEWED]) outgoing.push(item);
  await turns(2);
  expect(messages).toEqual([["renewed", "settled", "renewed"]]);
});

test("that an outcome is settled waits for something else to be said, and goes before it", async () => {
  const { outgoing, messages, time } = setup();
  outgoing.push(SETTLED);
  await turns(2);
  expect(messages).toEqual([]);
  outgoing.push(RENEWED);
  await turns(2);
  await time.advance(1_000);
  expect(messages).toEqual([["settled", "renewed"]]);
});

test("where nothing else is said it goes by itself, once", async () => {
  const { outgoing, messages, time } = setup();
  outgoing.push(SETTLED);
  outgoing.push(SETTLED);
  await time.advance(1_000);
  expect(messages).toEqual([["settled", "settled"]]);
});
