import { EXPLAIN_REASONS } from "@pawl/core/explain/reason";
import { ExplainReason } from "@pawl/proto/pawl/v1/explain_pb";
import { expect, test } from "vitest";
import { toWireExplanation } from "./explain.ts";

test("the core and the contract know the same reasons", () => {
  const wire = Object.keys(ExplainReason).filter((name) => Number.isNaN(Number(name)));
  expect(wire.filter((name) => name !== "UNSPECIFIED").toSorted()).toEqual(
    EXPLAIN_REASONS.toSorted(),
  );
});

test("an explanation keeps its evidence and leaves out unknown times", () => {
  const wire = toWireExplanation({
    reason: "BACKOFF",
    status: "queued",
    summary: "s",
    evidence: [{ seq: 7, type: "node.retried", nodeId: "a" }],
    next: "n",
    untilAt: 5_000,
  });
  expect(wire.reason).toBe(ExplainReason.BACKOFF);
  expect(wire.evidence.map(({ eventId, type, nodeId }) => [eventId, type, nodeId])).toEqual([
    [7n, "node.retried", "a"],
  ]);
  expect([wire.sinceTime, wire.untilTime?.seconds]).toEqual([undefined, 5n]);
});
