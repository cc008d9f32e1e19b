import type { Fact, RunEvent } from "@pawl/core/log/event";
import { executorId, nodeId, runId } from "@pawl/core/name/ids";
import { expect, test } from "vitest";
import { toUpdate } from "./update.ts";

const RUN = runId("0198c0de-0000-7000-8000-000000000001");
const EXECUTOR = executorId("0198c0de-0000-7000-8000-0000000000ee");
const place = { nodeId: nodeId("a"), iteration: 0, attempt: 1, epoch: 2 };

const CONTEXT = '{"input":{"n":1},"nodes":{"a":2},"vars":{}}';

const pushed = (fact: Fact) => {
  const event: RunEvent = { ...fact, runId: RUN, seq: 3, at: 0 };
  const update = toUpdate(event, CONTEXT);
  return update && { name: update.name, data: JSON.parse(update.data) as unknown };
};

test("a completed node is pushed with its output, a failed one with its error (S3.42)", () => {
  const payload = { durationMs: 1 };
  expect(pushed({ ...place, type: "node.completed", payload, value: '{"x":1}' })).toEqual({
    name: "workflow_node_update",
    data: {
      instanceID: RUN,
      nodeID: "a",
      iteration: 0,
      status: "completed",
      output: { x: 1 },
      error: null,
    },
  });
  const failure = { cause: "c", message: 'it "broke"' };
  expect(pushed({ ...place, type: "node.failed", payload: failure })?.data).toMatchObject({
    status: "failed",
    output: null,
    error: 'it "broke"',
  });
});

test("a run is pushed with its status, its context and its output or error (S3.43)", () => {
  const run = { nodeId: "", iteration: 0, attempt: 0, epoch: 0 } as const;
  const payload = { hasFailures: false };
  expect(pushed({ ...run, type: "run.completed", payload, value: "[1]" })).toEqual({
    name: "workflow_status_update",
    data: {
      instanceID: RUN,
      status: "completed",
      contextData: { input: { n: 1 }, nodes: { a: 2 }, vars: {}, output: [1] },
    },
  });
  const failed = { failedNodeId: nodeId("a"), message: "broken" };
  expect(pushed({ ...run, type: "run.failed", payload: failed })?.data).toMatchObject({
    status: "failed",
    contextData: { nodes: { a: 2 }, error: "broken" },
  });
});

test("an event that changes no status pushes nothing", () => {
  const payload = { deltaIndex: 0, text: "x" };
  expect(pushed({ ...place, type: "node.stream.delta", payload })).toBeUndefined();
  expect(
    pushed({ ...place, type: "node.started", payload: { executorId: EXECUTOR } }),
  ).toBeDefined();
});
