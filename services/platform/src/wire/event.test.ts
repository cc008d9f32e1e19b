import { fromBinary, toBinary, toJson } from "@bufbuild/protobuf";
import { type EventType, type RunEvent, TERMINAL_TYPES } from "@pawl/core/log/event";
import type { Payloads } from "@pawl/core/log/event-table";
import { executorId, nodeId, runId } from "@pawl/core/name/ids";
import { RunEventSchema } from "@pawl/proto/pawl/v1/event_pb";
import { expect, test } from "vitest";
import { type EventScope, toWireEvent, toWireHeartbeat } from "./event.ts";
import { toSseJson } from "./sse.ts";

const RUN = runId("0198c0de-0000-7000-8000-000000000001");
const AT = Date.UTC(2026, 1, 3, 4, 5, 6, 789);
const SCOPE: EventScope = {
  workflowId: "orders",
  traceId: "4bf92f3577b34da6a3ce929d0e0e4736",
  waveOf: (node) => (node === "a" ? 3 : 0),
};
const EXECUTOR = executorId("0198c0de-0000-7000-8000-0000000000ee");

const PAYLOADS: Payloads = {
  "run.started": { definitionDigest: "d", workflowVersion: 2, kind: "saved", deadlineAt: AT },
  "run.status.changed": { from: "running", to: "waiting" },
  "run.completed": { hasFailures: true },
  "run.failed": { failedNodeId: "a", message: "no" },
  "run.cancelled": { reason: "why", requestId: "r" },
  "run.timed_out": { deadlineAt: AT },
  "run.recovered": { reason: "lease_expired", executorId: EXECUTOR, lostDeliveries: 1 },
  "run.thread.taken": { threadId: "chat", taint: { plan: [{ label: "web", nodeId: "" }] } },
  "run.signalled": { name: "paid", requestId: "r", digest: "d" },
  "run.budget.raised": { tokens: 5, requestId: "r", who: "ada", reason: "more" },
  "run.metadata.set": {},
  "node.queued": { notBefore: AT },
  "node.started": { executorId: EXECUTOR },
  "node.expanded": { width: 3 },
  "node.stream.delta": {
    deltaIndex: 4,
    text: "héllo\n",
    media: { url: "https://x.test/a.png", mime: "image/png" },
  },
  "node.log": { logIndex: 1, level: "info", message: "line" },
  "node.retried": { cause: "timeout", message: "slow", delayMs: 500 },
  "node.completed": {
    durationMs: 12.5,
    handle: "yes",
    queueDelayMs: 7,
    usage: { inputTokens: 3, outputTokens: 5 },
  },
  "node.failed": { cause: "provider_error", message: "boom" },
  "node.cancelled": { reason: "cancelled" },
  "node.skipped": { reason: "untaken_branch" },
  "node.timed_out": { timeoutMs: 300 },
  "node.blocked": { reason: "moderation_hold", phase: "output", durationMs: 1 },
  "node.decided": { decision: "approve", reason: "moderation_hold", comment: "ok", requestId: "r" },
  "node.invalidated": { reason: "repair" },
  "moderation.flagged": { phase: "input" },
  "memory.updated": { keys: ["draft", "notes"], replaced: ["notes"] },
  "contract.violated": { phase: "output" },
};

// The keys of a literal table are exactly its declared ones.
const TYPES = Object.keys(PAYLOADS) as EventType[];

function event(type: EventType, value?: string): RunEvent {
  const base = {
    runId: RUN,
    seq: 9,
    at: AT,
    type,
    nodeId: nodeId("a"),
    iteration: 1,
    attempt: 2,
    epoch: 5,
    payload: PAYLOADS[type],
  };
  // Each payload above belongs to its type; the union cannot see it.
  return (value === undefined ? base : { ...base, value }) as RunEvent;
}

test.each(TYPES)("%s keeps its place and its fact through the wire (S1.44-S1.47)", (type) => {
  const wire = toWireEvent(event(type, '{"x": 1}'), SCOPE);
  const back = fromBinary(RunEventSchema, toBinary(RunEventSchema, wire));
  expect(back).toEqual(wire);
  expect(back).toMatchObject({ eventId: 9n, runId: RUN, workflowId: "orders", type, nodeId: "a" });
  expect(back).toMatchObject({ iteration: 1, attempt: 2, epoch: 5n });
  expect(back.correlation).toMatchObject({ traceId: SCOPE.traceId, wave: 3, phase: "engine" });
  expect(back.fact.case).toBe(
    type.replaceAll(/[._](\w)/g, (_, letter: string) => letter.toUpperCase()),
  );
});

test("the user's JSON travels as the bytes it was", () => {
  const wire = toWireEvent(
    event("node.completed", '{"big": 12345678901234567890, "é": "\\u2028"}'),
    SCOPE,
  );
  expect(wire.fact).toMatchObject({
    case: "nodeCompleted",
    value: { durationMs: 13n, handle: "yes" },
  });
  const bytes = wire.fact.case === "nodeCompleted" ? wire.fact.value.outputJson : new Uint8Array();
  expect(Buffer.from(bytes).toString()).toBe('{"big": 12345678901234567890, "é": "\\u2028"}');
});

test("media and tokens reach the wire (S1.42, S1.58)", () => {
  expect(toWireEvent(event("node.stream.delta"), SCOPE).fact.value).toMatchObject({
    media: { url: "https://x.test/a.png", mime: "image/png" },
  });
  expect(toWireEvent(event("node.completed"), SCOPE).fact.value).toMatchObject({
    usage: { inputTokens: 3n, outputTokens: 5n },
  });
});

test("a type of a newer writer keeps its name and has no fact", () => {
  // A newer writer may add types this build has no payload for.
  const newer = { ...event("node.log"), type: "node.dreamed" } as unknown as RunEvent;
  expect(toWireEvent(newer, SCOPE)).toMatchObject({
    type: "node.dreamed",
    fact: { case: undefined },
  });
});

test.each(TYPES)("%s is one line of JSON with the envelope for SSE (S1.48)", (type) => {
  const text = toSseJson(event(type, '{"x": 1}'), SCOPE);
  expect(text).not.toMatch(/[\r\n]/);
  const { payload, ...envelope } = JSON.parse(text);
  expect(envelope).toEqual({
    eventId: 9,
    sequence: 9,
    type,
    runId: RUN,
    workflowId: "orders",
    timestamp: "2026-02-03T04:05:06.789Z",
    correlation: {
      traceId: SCOPE.traceId,
      // A claim does not cause itself; it causes the events under it.
      ...(type === "run.started" ? {} : { parentEventId: type === "node.started" ? 8 : 5 }),
      wave: 3,
      phase: "engine",
    },
    nodeId: "a",
    iteration: 1,
    attempt: 2,
    epoch: 5,
  });
  expect(payload).toMatchObject(PAYLOADS[type]);
  // The output of a held node is for the person who decides, not for watchers.
  if (type === "node.blocked") expect(text).not.toContain('"x"');
  else expect(Object.values(payload)).toContainEqual({ x: 1 });
});

test("SSE embeds the user's JSON without parsing it", () => {
  const text = toSseJson(event("run.completed", "[1.0, 12345678901234567890]"), SCOPE);
  expect(text).toContain('"payload":{"hasFailures":true,"output":[1.0, 12345678901234567890]}');
  expect(toSseJson(event("run.metadata.set", "{}"), SCOPE)).toContain('"payload":{"metadata":{}}');
});

test("a heartbeat has event id 0 and comes from the transport (S1.45)", () => {
  const beat = toWireHeartbeat(RUN, AT);
  expect(beat.eventId).toBe(0n);
  expect(toJson(RunEventSchema, beat)).toMatchObject({ type: "heartbeat", heartbeat: {} });
  expect(TERMINAL_TYPES).not.toContain(beat.type);
});

test("an event shows the limits that something waits for, with their keys filled in (S1.46)", () => {
  const slot = { key: "shop-7", limit: 2, scope: "workflow" } as const;
  const rate = { key: "mail", limit: 20, perMs: 1_000, scope: "tenant" } as const;
  const limits = { slot, rate };
  const told = { slot, rate: { ...rate, perMs: 1_000n } };
  const queued = { ...event("node.queued"), payload: limits } as RunEvent;
  expect(toWireEvent(queued, SCOPE).fact.value).toMatchObject(told);
  expect(JSON.parse(toSseJson(queued, SCOPE))).toMatchObject({ payload: limits });
  const payload = { ...PAYLOADS["run.started"], ...limits };
  const started = { ...event("run.started"), payload } as RunEvent;
  expect(toWireEvent(started, SCOPE).fact.value).toMatchObject(told);
  expect(JSON.parse(toSseJson(started, SCOPE))).toMatchObject({ payload: limits });
});
