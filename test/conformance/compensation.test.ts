import { fromWire } from "@pawl/client";
import type { Compensated, Ending, Fact, RunEvent } from "@pawl/core/log/event";
import { nodeId, runId } from "@pawl/core/name/ids";
import { expect, test } from "vitest";
import { toWireEvent } from "@pawl/platform/wire/event";

const RUN = runId("0199a000-0000-7000-8000-000000000001");
const SCOPE = { workflowId: "w", traceId: "", waveOf: () => 0 };
const PLACE = { nodeId: "", iteration: 0, attempt: 0, epoch: 0 } as const;

/** The payload of an event after its way to a client. */
function returned(fact: Pick<Fact, "type" | "payload">): unknown {
  // The tests pair each type with its payload.
  const event = { ...PLACE, ...fact, runId: RUN, seq: 2, at: 1_000 } as RunEvent;
  return fromWire(toWireEvent(event, SCOPE))?.payload;
}

const done: Compensated = {
  compensation: {
    undone: 2,
    left: 1,
    named: [{ nodeId: nodeId("charge"), iteration: 3, why: "503" }],
  },
};

test("clients read how a run ends after its compensation (S2.16)", () => {
  const endings: readonly Ending[] = [
    { end: "failed", failedNodeId: "a", message: "node a failed: x", cause: "max_iterations" },
    { end: "failed", failedNodeId: "a", message: "node a failed: x" },
    { end: "cancelled", reason: "no", requestId: "" },
    { end: "timeout", deadlineAt: 0 },
  ];
  for (const ending of endings) {
    const payload = { from: "running", to: "compensating", deadlineAt: 9_000, ending } as const;
    expect(returned({ type: "run.status.changed", payload })).toEqual(payload);
  }
});

test("clients read from every end event what was undone and what was not (S2.16)", () => {
  const failed = { failedNodeId: "a", message: "m", ...done };
  expect(returned({ type: "run.failed", payload: failed })).toEqual(failed);
  const cancelled = { reason: "no", requestId: "", ...done };
  expect(returned({ type: "run.cancelled", payload: cancelled })).toEqual(cancelled);
  const late = { deadlineAt: 5_000, ...done };
  expect(returned({ type: "run.timed_out", payload: late })).toEqual(late);
  const undone = { hasFailures: false, ...done };
  expect(returned({ type: "run.completed", payload: undone })).toEqual(undone);
  // A run that was not compensated says nothing about it.
  expect(returned({ type: "run.cancelled", payload: { reason: "", requestId: "" } })).toEqual({
    reason: "",
    requestId: "",
  });
});

test("clients read which execution a run undoes (S2.16)", () => {
  const undoes = { runId: RUN, nodeId: nodeId("charge"), iteration: 2 };
  const payload = {
    ...{ definitionDigest: "d", workflowVersion: 1, kind: "saved", deadlineAt: 5_000 },
    undoes,
  } as const;
  expect(returned({ type: "run.started", payload })).toEqual(payload);
});
