import { expect, test } from "vitest";
import {
  HEARTBEAT,
  isFinal,
  isSettled,
  isStreamedType,
  isTerminalType,
  STREAMED_TYPES,
  TERMINAL_TYPES,
  type EventType,
  type NodeStatus,
  type Payloads,
  type RunStatus,
} from "./event.ts";

// A record over the union: leaving a name out, or adding one that is not in the union, does not compile.
const NAMES: Record<keyof Payloads, true> = {
  "run.started": true,
  "run.status.changed": true,
  "run.completed": true,
  "run.failed": true,
  "run.cancelled": true,
  "run.timed_out": true,
  "run.recovered": true,
  "run.metadata.set": true,
  "node.queued": true,
  "node.started": true,
  "node.expanded": true,
  "node.stream.delta": true,
  "node.log": true,
  "node.retried": true,
  "node.completed": true,
  "node.failed": true,
  "node.cancelled": true,
  "node.skipped": true,
  "node.timed_out": true,
  "node.blocked": true,
  "node.decided": true,
  "node.invalidated": true,
  "moderation.flagged": true,
  "contract.violated": true,
};

test("one union names every run event, node event and gate event (S1.44, S1.45, S1.46, S1.47)", () => {
  const runEvents: EventType[] = [
    "run.started",
    "run.status.changed",
    "run.completed",
    "run.failed",
  ];
  runEvents.push("run.cancelled", "run.timed_out", "run.recovered");
  const nodeEvents: EventType[] = ["node.queued", "node.started", "node.stream.delta", "node.log"];
  nodeEvents.push(
    "node.retried",
    "node.completed",
    "node.failed",
    "node.cancelled",
    "node.skipped",
  );
  nodeEvents.push("node.timed_out", "node.blocked", "node.invalidated");
  const gateEvents: EventType[] = ["moderation.flagged", "contract.violated"];
  for (const name of [...runEvents, ...nodeEvents, ...gateEvents]) expect(NAMES[name]).toBe(true);
  expect(HEARTBEAT).toBe("heartbeat");
  expect(Object.keys(NAMES)).not.toContain(HEARTBEAT);
});

test("names are dotted lower case, one spelling everywhere (X6)", () => {
  for (const name of Object.keys(NAMES))
    expect(name).toMatch(/^(run|node|moderation|contract)(\.[a-z_]+)+$/);
});

test("four facts end a log and two are passed over by the fold", () => {
  expect(Object.keys(NAMES).filter(isTerminalType)).toEqual([...TERMINAL_TYPES]);
  expect(Object.keys(NAMES).filter(isStreamedType)).toEqual([...STREAMED_TYPES]);
});

test("a run never leaves completed, failed, cancelled or timeout (S2.28, S2.30, X8)", () => {
  const statuses: RunStatus[] = [
    "pending",
    "scheduled",
    "running",
    "waiting",
    "retrying",
    "paused",
    "compensating",
  ];
  expect(statuses.some(isFinal)).toBe(false);
  const final: RunStatus[] = ["completed", "failed", "cancelled", "timeout"];
  expect(final.every(isFinal)).toBe(true);
});

test("a node counts as settled when nothing more will happen to it (X8)", () => {
  const open: NodeStatus[] = ["pending", "queued", "running", "retrying", "waiting", "invalidated"];
  expect(open.some(isSettled)).toBe(false);
  const settled: NodeStatus[] = ["completed", "failed", "timed_out", "cancelled", "skipped"];
  expect(settled.every(isSettled)).toBe(true);
});
