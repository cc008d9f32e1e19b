import { expect, test } from "vitest";
import {
  HEARTBEAT,
  isFinal,
  isSettled,
  isStreamedType,
  isTerminalType,
  type EventType,
  type NodeStatus,
  type RunStatus,
} from "./event.ts";
import { EVENTS } from "./event-table.ts";
import { isSettlingType, mayCause, typeNamed } from "./meaning.ts";

const TYPES = Object.keys(EVENTS);

test("one table names every event of runs, nodes and checks (S1.44, S1.45, S1.46, S1.47)", () => {
  const ofRuns: EventType[] = [
    ...(["run.started", "run.status.changed", "run.completed", "run.failed"] as const),
    ...(["run.cancelled", "run.timed_out", "run.recovered"] as const),
  ];
  const ofNodes: EventType[] = [
    ...(["node.queued", "node.started", "node.stream.delta", "node.log"] as const),
    ...(["node.retried", "node.completed", "node.failed", "node.cancelled"] as const),
    ...(["node.skipped", "node.timed_out", "node.blocked", "node.invalidated"] as const),
  ];
  const ofChecks: EventType[] = ["moderation.flagged", "contract.violated"];
  expect(TYPES).toEqual(expect.arrayContaining([...ofRuns, ...ofNodes, ...ofChecks]));
  expect(HEARTBEAT).toBe("heartbeat");
  expect(TYPES).not.toContain(HEARTBEAT);
});

test("names are dotted lower case, and other spellings lead to one type (X6)", () => {
  for (const name of TYPES)
    expect(name).toMatch(/^(run|node|memory|moderation|contract)(\.[a-z_]+)+$/);
  expect(typeNamed("NODE_DISPATCHED")).toBe("node.queued");
  expect(typeNamed("INPUT_SET")).toBe("run.started");
  expect(typeNamed("SYSTEM_SET")).toBe("run.metadata.set");
  expect(typeNamed("NODE_SKIPPED")).toBe("node.skipped");
  expect(typeNamed("node.stream.delta")).toBe("node.stream.delta");
  expect(typeNamed("node:stream:delta")).toBe("node.stream.delta");
  expect(typeNamed("node_dreamed")).toBeUndefined();
});

test("four facts end a log, five settle a node, and the scheduler does not fold two", () => {
  expect(TYPES.filter(isTerminalType)).toEqual([
    "run.completed",
    "run.failed",
    "run.cancelled",
    "run.timed_out",
  ]);
  expect(TYPES.filter(isSettlingType)).toEqual([
    "node.completed",
    "node.failed",
    "node.cancelled",
    "node.skipped",
    "node.timed_out",
  ]);
  expect(TYPES.filter(isStreamedType)).toEqual(["node.stream.delta", "node.log"]);
});

test("an event has only the causes that the table allows (S1.48)", () => {
  expect(mayCause("node.completed", "node.queued")).toBe(true);
  expect(mayCause("node.skipped", "run.completed")).toBe(true);
  expect(mayCause("node.started", "node.log")).toBe(true);
  expect(mayCause("node.queued", "node.timed_out")).toBe(false);
  expect(mayCause("node.queued", "run.started")).toBe(false);
  expect(mayCause("run.failed", "node.cancelled")).toBe(false);
});

test("a run never leaves completed, failed, cancelled or timeout (S2.28, S2.30, X8)", () => {
  const open: RunStatus[] = ["pending", "scheduled", "running", "waiting", "retrying"];
  expect([...open, "paused" as const, "compensating" as const].some(isFinal)).toBe(false);
  const final: RunStatus[] = ["completed", "failed", "cancelled", "timeout"];
  expect(final.every(isFinal)).toBe(true);
});

test("a node counts as settled when nothing more will happen to it (X8)", () => {
  const open: NodeStatus[] = ["pending", "queued", "running", "retrying", "waiting", "invalidated"];
  expect(open.some(isSettled)).toBe(false);
  const settled: NodeStatus[] = ["completed", "failed", "timed_out", "cancelled", "skipped"];
  expect(settled.every(isSettled)).toBe(true);
});
