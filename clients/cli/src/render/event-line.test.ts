import { create } from "@bufbuild/protobuf";
import { timestampFromMs } from "@bufbuild/protobuf/wkt";
import { RunEventSchema } from "@pawl/proto/pawl/v1/event_pb";
import { expect, test } from "vitest";
import { eventLine } from "./event-line.ts";

test("the line of a delay says how long it waits, and the line of its child when it may start", () => {
  const time = timestampFromMs(0);
  const delay = create(RunEventSchema, {
    eventId: 16n,
    type: "node.completed",
    nodeId: "pause",
    time,
    fact: { case: "nodeCompleted", value: { durationMs: 1n, queueDelayMs: 1_000n } },
  });
  expect(eventLine(delay)).toBe(
    "1970-01-01T00:00:00.000Z  #16  node.completed  pause  waits 1.0s before the next nodes",
  );
  const child = create(RunEventSchema, {
    eventId: 17n,
    type: "node.queued",
    nodeId: "end",
    time,
    fact: { case: "nodeQueued", value: { notBeforeTime: timestampFromMs(1_000) } },
  });
  expect(eventLine(child)).toContain("end  not before 1970-01-01T00:00:01.000Z");
});
