// What a request about dead letters may ask for.

import { create } from "@bufbuild/protobuf";
import { EngineError } from "@pawl/core/fault/engine-error";
import { executorId, nodeId, runId } from "@pawl/core/name/ids";
import { DeadLetterFilterSchema } from "@pawl/proto/pawl/v1/queue_service_pb";
import { expect, test } from "vitest";
import { type OpenDeadLetter, whyLeft } from "../store/dead-letters/dead-letters.ts";
import { deadLetterLimit, fromWireFilter, narrowing, redrivePace } from "./dead-letter.ts";

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

test("a redrive takes what ended, and leaves live runs and test runs with the reason (S0.56)", () => {
  expect(whyLeft(LETTER)).toBeUndefined();
  expect(whyLeft({ ...LETTER, hasEnded: false })).toBe("run_live");
  expect(whyLeft({ ...LETTER, workflowId: null })).toBe("test_run");
  expect(whyLeft({ ...LETTER, hasWorkflow: false })).toBe("workflow_deleted");
});

test("ids are taken in any case and once; anything that is none is refused by its place", () => {
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
  expect([redrivePace(0), redrivePace(1)]).toEqual([50, 1]);
  expect(refused(() => redrivePace(1_001))).toBe("max_per_second");
});

test("nothing is discarded by leaving the filter out", () => {
  expect(refused(() => narrowing(fromWireFilter(undefined)))).toBe("filter");
});
