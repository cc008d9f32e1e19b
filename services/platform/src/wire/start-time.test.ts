import { create, type MessageInitShape } from "@bufbuild/protobuf";
import { LIMITS } from "@pawl/core/data/limits";
import { EngineError } from "@pawl/core/fault/engine-error";
import {
  IdempotencyScope,
  StartRunRequestSchema,
  TestRunRequestSchema,
} from "@pawl/proto/pawl/v1/run_service_pb";
import { expect, test } from "vitest";
import { parseStart, parseTest } from "./requests.ts";

type Asked = MessageInitShape<typeof StartRunRequestSchema>;

const start = (asked: Asked) =>
  parseStart(create(StartRunRequestSchema, { workflowId: "orders", ...asked }));

/** The field that a start is refused for, and why. */
function refused(asked: Asked): string {
  try {
    start(asked);
    return "nothing";
  } catch (error) {
    if (!(error instanceof EngineError)) throw error;
    return error.violations.map(({ field, reason }) => `${field} ${reason}`).join();
  }
}

const MAX_SECONDS = LIMITS.startDelayMsMax / 1_000;

test("a start says when it begins: after some seconds, or at a time (S4.4)", () => {
  expect(start({}).time).toBeUndefined();
  expect(start({ afterSeconds: 0 }).time).toBeUndefined();
  expect(start({ afterSeconds: 1.5 }).time).toEqual({ kind: "after", ms: 1_500 });
  expect(start({ afterSeconds: 1e-9 }).time).toEqual({ kind: "after", ms: 1 });
  expect(start({ afterSeconds: MAX_SECONDS }).time).toMatchObject({ kind: "after" });
  const startAt = { seconds: 10n, nanos: 1 };
  expect(start({ startAt }).time).toEqual({ kind: "at", at: 10_001 });
  const tested = create(TestRunRequestSchema, {
    definition: { text: "{}" },
    ...{ afterSeconds: 2, temporary: true, deadline: { seconds: 9n } },
  });
  expect(parseTest(tested)).toMatchObject({
    time: { kind: "after", ms: 2_000 },
    deadlineMs: 9_000,
    isTemporary: true,
  });
});

test.each([
  ["a negative delay", { afterSeconds: -1 }, "after_seconds OUT_OF_RANGE"],
  ["no number", { afterSeconds: NaN }, "after_seconds OUT_OF_RANGE"],
  ["an endless delay", { afterSeconds: Infinity }, "after_seconds OUT_OF_RANGE"],
  ["a delay of years", { afterSeconds: MAX_SECONDS + 1 }, "after_seconds OUT_OF_RANGE"],
  ["a delay and a time", { afterSeconds: 0, startAt: { seconds: 1n } }, "start_at AMBIGUOUS"],
  ["a year that no calendar has", { startAt: { seconds: 2n ** 62n } }, "start_at OUT_OF_RANGE"],
  ["a broken time", { startAt: { seconds: 1n, nanos: -1 } }, "start_at OUT_OF_RANGE"],
  ["a temporary run on a thread", { temporary: true, threadId: "t" }, "temporary AMBIGUOUS"],
  [
    "a temporary run that the same input returns",
    { temporary: true, idempotency: { scope: IdempotencyScope.INPUT_HASH } },
    "temporary AMBIGUOUS",
  ],
])("%s is refused", (_what, asked, expected) => {
  expect(refused(asked)).toBe(expected);
});
