// The bounds of requests about dead letters.

import { create } from "@bufbuild/protobuf";
import { EngineError } from "@pawl/core/fault/engine-error";
import { executorId, nodeId, runId } from "@pawl/core/name/ids";
import {
  DeadLetterFilterSchema,
  DiscardDeadLettersRequestSchema,
  RedriveDeadLettersRequestSchema,
} from "@pawl/proto/pawl/v1/queue_service_pb";
import { expect, test } from "vitest";
import { type OpenDeadLetter, whyLeft } from "../store/dead-letters/dead-letters.ts";
import { deadLetterLimit, fromWireFilter, parseDiscard, parseRedrive } from "./dead-letter.ts";

const ID = "01a1e451-4259-70e8-8c9d-a891b4f8d58b";

/** The field that a call refuses. */
function refused(call: () => unknown): string {
  try {
    call();
    return "nothing";
  } catch (error) {
    if (!(error instanceof EngineError)) throw error;
    return error.violations[0]?.field ?? "";
  }
}

const LETTER: OpenDeadLetter = {
  deadLetterId: ID,
  runId: runId(ID),
  nodeId: nodeId("poison"),
  iteration: 0,
  attempt: 1,
  nodeType: "noop",
  deliveries: 3,
  executorId: executorId(ID),
  reason: "stream_broken",
  errorMessage: "",
  workflowId: "orders",
  diedAt: 0,
  state: "open",
  redriveRunId: null,
  closedAt: null,
  workflowVersion: 1,
  priority: 0,
  hasEnded: true,
  hasWorkflow: true,
};

test("a redrive takes ended runs, and leaves live runs and test runs with the reason (S0.56)", () => {
  expect(whyLeft(LETTER)).toBeUndefined();
  expect(whyLeft({ ...LETTER, hasEnded: false })).toBe("run_live");
  expect(whyLeft({ ...LETTER, workflowId: null })).toBe("test_run");
  expect(whyLeft({ ...LETTER, hasWorkflow: false })).toBe("workflow_deleted");
});

test("ids count once in upper and lower case; a text that is not an id is refused by its place", () => {
  const deadLetterIds = [ID, ID.toUpperCase()];
  const filter = create(DeadLetterFilterSchema, { deadLetterIds });
  expect(fromWireFilter(filter).ids).toEqual([ID]);
  const bad = create(DeadLetterFilterSchema, { deadLetterIds: [ID, "7"] });
  expect(refused(() => fromWireFilter(bad))).toBe("filter.dead_letter_ids[1]");
  const many = create(DeadLetterFilterSchema, { deadLetterIds: Array<string>(1_001).fill(ID) });
  expect(refused(() => fromWireFilter(many))).toBe("filter.dead_letter_ids");
});

test("how many, and how many a second, have defaults and bounds", () => {
  expect(deadLetterLimit(0)).toBe(100);
  expect(refused(() => deadLetterLimit(1_001))).toBe("limit");
  const pause = (maxPerSecond: number): number =>
    parseRedrive(create(RedriveDeadLettersRequestSchema, { maxPerSecond })).pauseMs;
  expect([pause(0), pause(1)]).toEqual([20, 1_000]);
  expect(refused(() => pause(1_001))).toBe("max_per_second");
});

test("a request without a filter discards nothing", () => {
  const everything = create(DiscardDeadLettersRequestSchema, {});
  expect(refused(() => parseDiscard(everything))).toBe("filter");
});
