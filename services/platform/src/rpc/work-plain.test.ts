import { create } from "@bufbuild/protobuf";
import {
  type SchedulerItem,
  SchedulerItemSchema,
  type WorkerItem,
  WorkerItemSchema,
} from "@pawl/proto/pawl/worker/v1/worker_service_pb";
import { expect, test } from "vitest";
import { WireReader } from "./wire-reader.ts";
import { WireWriter } from "./wire-writer.ts";
import { MESSAGE } from "./work-fields.ts";
import { readSchedulerItem, readWorkerItem } from "./work-read.ts";
import { writeSchedulerItem, writeWorkerItem } from "./work-write.ts";

// What is odd is coded rightly too, only slowly: these say what must not be.

const claim = {
  runId: "01890000-0000-7000-8000-000000000000",
  nodeId: "charge-card",
  iteration: 3,
  epoch: 2n ** 40n,
};
/** As large as the reader takes: more than a scheduler makes in its life. */
const assignment = {
  claim,
  attempt: 1,
  nodeType: "http.request",
  nodeJson: new Uint8Array(Buffer.from('{"name":"Zoë"}')),
  contextJson: new Uint8Array(100_000),
  timeoutMs: 300_000n,
  traceparent: "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01",
  effectKey: "01890000-0000-7000-8000-000000000000/charge-card/3",
  workflowId: "orders",
  inputApproved: true,
};
const completed = {
  outputJson: new Uint8Array(Buffer.from('{"name":"Zoë"}')),
  handle: "yes",
  queueDelayMs: 5n,
  stop: true,
};

/** Writes an item by hand and gives a reader inside of it. */
function written(write: (writer: WireWriter) => void): WireReader {
  const writer = new WireWriter();
  write(writer);
  expect(writer.isOdd).toBe(false);
  const reader = new WireReader(writer.finish());
  reader.enter(MESSAGE.items);
  return reader;
}

test.each<SchedulerItem>([
  create(SchedulerItemSchema, { item: { case: "assignment", value: assignment } }),
  create(SchedulerItemSchema, { item: { case: "assignment", value: { claim } } }),
  create(SchedulerItemSchema, { item: { case: "assignment", value: { claim } } }),
  create(SchedulerItemSchema, { item: { case: "settled", value: { claim } } }),
  create(SchedulerItemSchema, { item: { case: "settled", value: { claim } } }),
])("a scheduler's $item.case is written and read by hand, whatever its JSON is", (item) => {
  const reader = written((writer) => writeSchedulerItem(writer, item));
  expect(readSchedulerItem(reader)).toEqual(item);
  expect([reader.isOdd, reader.isAtEnd]).toEqual([false, true]);
});

test.each<WorkerItem>(
  [
    { claim, durationMs: 12n, result: { case: "completed", value: completed } as const },
    { claim, durationMs: 12n, result: { case: "completed", value: completed } as const },
    { claim, gates: [], result: { case: "completed", value: {} } as const },
  ].map((value) => create(WorkerItemSchema, { item: { case: "outcome", value } })),
)("an executor's $item.case is written and read by hand, whatever its JSON is", (item) => {
  const reader = written((writer) => writeWorkerItem(writer, item));
  expect(readWorkerItem(reader)).toEqual(item);
  expect([reader.isOdd, reader.isAtEnd]).toEqual([false, true]);
});
