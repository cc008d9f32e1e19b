import { create } from "@bufbuild/protobuf";
import { LIMITS } from "@pawl/core/data/limits";
import { OutcomeSchema } from "@pawl/proto/pawl/worker/v1/worker_service_pb";
import { expect, test } from "vitest";
import { outcomeOf } from "./wire.ts";

const reported = (name: string, timeoutMs = 0n) =>
  outcomeOf(
    create(OutcomeSchema, {
      durationMs: 3n,
      result: { case: "awaitSignal", value: { name, timeoutMs } },
    }),
    0,
  );

test("an executor names the signal that its node waits for, and how long; a time above the limit is cut", () => {
  expect(reported("paid")).toEqual({ kind: "awaiting", name: "paid", durationMs: 3 });
  expect(reported("paid", 5n)).toMatchObject({ timeoutMs: 5 });
  expect(reported("paid", 2n ** 60n)).toMatchObject({ timeoutMs: LIMITS.signalTimeoutMsMax });
});

test.each(["", "a b", "__proto__", "constructor", "x".repeat(500)])(
  "a wait for the signal %o is a failure of the node, because no signal could end it",
  (name) => {
    expect(reported(name)).toMatchObject({
      ...{ kind: "failed", cause: "output_invalid", permanent: true },
    });
  },
);
