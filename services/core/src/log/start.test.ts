import { expect, test } from "vitest";
import { definitionId, nodeId, runId } from "../name/ids.ts";
import { type AcceptedStart, startedFact } from "./start.ts";

const RUN = runId("0199a000-0000-7000-8000-000000000001");
const START: AcceptedStart = {
  runId: RUN,
  tenantId: "default",
  kind: "saved",
  definitionId: definitionId("0199a000-0000-7000-8000-0000000000d1"),
  definitionDigest: "digest",
  workflowId: "orders",
  workflowVersion: 3,
  assumesNewest: true,
  priority: 7,
  requestId: "r-1",
  requestHash: "hash",
  traceparent: null,
  createdAt: 1_000,
  deadlineAt: 9_000,
  limits: {},
  input: '{"n":1}',
  parent: null,
  depth: 0,
};

test("the event of a start holds what the log needs, and nothing of the request", () => {
  const { payload, value, type, nodeId: node } = startedFact(START);
  expect({ type, node, value }).toEqual({ type: "run.started", node: "", value: '{"n":1}' });
  expect(payload).toEqual({
    definitionDigest: "digest",
    workflowVersion: 3,
    kind: "saved",
    deadlineAt: 9_000,
  });
});

test("a start with an input key, limits, a parent or a schedule writes them into its event", () => {
  const parent = { runId: RUN, nodeId: nodeId("n"), iteration: 2 };
  const slot = { key: "k", limit: 1, scope: "workflow" } as const;
  const schedule = { scheduleId: "nightly", at: 5 };
  const inputKey = { key: "sha", ttlMs: 60_000 };
  const start = { ...START, inputKey, parent, depth: 2, limits: { slot }, schedule };
  expect(startedFact(start).payload).toMatchObject({
    inputKey: "sha",
    parent,
    depth: 2,
    slot,
    schedule,
  });
});
