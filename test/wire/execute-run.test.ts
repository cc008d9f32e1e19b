// A run and its events by one call, through every client: the same log as by two calls, the same run when the call is repeated, and the
// same refusals.
import { LIMITS } from "@pawl/core/data/limits";
import { randomUUID } from "node:crypto";
import { type CallOptions, Code } from "@connectrpc/connect";
import type { MessageInitShape } from "@bufbuild/protobuf";
import { RunKind, RunStatus } from "@pawl/proto/pawl/v1/run_pb";
import type {
  ExecuteRunRequestSchema,
  ExecuteRunResponse,
  StartRunRequestSchema,
} from "@pawl/proto/pawl/v1/run_service_pb";
import { expect, test } from "vitest";
import type { Door } from "./doors.ts";
import { drain, KNOWN, saveKnown } from "./known-workflow.ts";
import { expectRefused, failure, invalidField, type Refusal } from "./refusal.ts";
import { useStage } from "./stage.ts";

const STORY = "story";
const HELD = "held";
const TERMINAL = ["run.completed", "run.failed", "run.cancelled", "run.timed_out"];

const after = (id: string, type: string, config: object) =>
  JSON.stringify({
    nodes: [
      { id: "start", type: "start" },
      { id, type, config },
    ],
    edges: [{ source: "start", target: id }],
  });

// So rarely that the gateway would not find an end without a hint in time.
const SELDOM = { gateway: { PAWL_POLL_MS: "60000" } };

const stage = useStage({ envOf: SELDOM }, async (set) => {
  await saveKnown(set);
  const { workflows } = set.door("grpc-js");
  const say = after("say", "text_stream", { text: "abcdef", chunk_chars: 1, interval_ms: 20 });
  await workflows.createWorkflow({ workflowId: STORY, definition: { text: say } });
  const ask = after("ask", "approval", { message: "Go on?" });
  await workflows.createWorkflow({ workflowId: HELD, definition: { text: ask } });
});

type Request = MessageInitShape<typeof ExecuteRunRequestSchema>;
type Seen = { readonly id: number; readonly type: string };

const seenIn = ({ events }: Pick<ExecuteRunResponse, "events">): Seen[] =>
  events.map(({ eventId, type }) => ({ id: Number(eventId), type })).filter(({ id }) => id > 0);

async function all<Message>(stream: AsyncIterable<Message>): Promise<Message[]> {
  const messages: Message[] = [];
  for await (const message of stream) messages.push(message);
  return messages;
}

/** The run as the first message names it, and all events behind it. */
async function execute({ runs }: Door, request: Request) {
  const messages = await all(runs.executeRun(request));
  const [first, ...rest] = messages;
  // The end may be here by the time the run is accepted, and then there is no other message.
  if (rest.length > 0) expect(first?.events).toEqual([]);
  for (const { run, duplicate } of rest) expect([run, duplicate]).toEqual([undefined, false]);
  return {
    runId: first?.run?.runId ?? "",
    isDuplicate: first?.duplicate,
    events: messages.flatMap(seenIn),
  };
}

async function watched({ events }: Door, runId: string): Promise<Seen[]> {
  return (await all(events.watchRun({ runId }))).flatMap(seenIn);
}

test("every client is given a run and the events that WatchRun gives, and the same again for the same request id", async () => {
  for (const door of stage().doors) {
    const start = { workflowId: STORY, requestId: randomUUID(), inputJson: Buffer.from("[1]") };
    const { runId, isDuplicate, events } = await execute(door, { start });
    expect(isDuplicate, door.name).toBe(false);
    expect(events, door.name).toEqual(await watched(door, runId));
    expect(events.map(({ id }) => id)).toEqual(events.map((_, index) => index + 1));
    expect(events.at(-1)?.type).toBe("run.completed");
    for (const again of stage().doors)
      expect(await execute(again, { start }), again.name).toEqual({
        runId,
        isDuplicate: true,
        events,
      });
  }
});

test("a call that asks for the end gets the end, of a new run and of a run that has ended", async () => {
  for (const door of stage().doors)
    for (const workflowId of [KNOWN, STORY]) {
      const start = { workflowId, requestId: randomUUID() };
      const first = await execute(door, { start, types: TERMINAL });
      expect(first.events, door.name).toEqual((await watched(door, first.runId)).slice(-1));
      const second = await execute(door, { start, types: TERMINAL });
      expect(second, door.name).toEqual({ ...first, isDuplicate: true });
    }
});

test("the first answer describes a short run as later reads do, in its caller's trace, whether the end or the scheduler's answer arrives first", async () => {
  const traceId = "4bf92f3577b34da6a3ce929d0e0e4736";
  const headers = { traceparent: `00-${traceId}-00f067aa0ba902b7-01` };
  for (const door of stage().doors) {
    const start = { workflowId: KNOWN, priority: 7, deadline: { seconds: 90n } };
    const [first] = await all(door.runs.executeRun({ start, types: TERMINAL }, { headers }));
    const run = first?.run;
    const { run: read } = await door.runs.getRun({ runId: run?.runId ?? "" });
    const named = { workflowId: KNOWN, workflowVersion: 1, priority: 7, kind: RunKind.SAVED };
    for (const each of [run, read]) expect(each, door.name).toMatchObject({ ...named, traceId });
    expect(run?.status, door.name).toBe(RunStatus.SCHEDULED);
    expect(run?.deadlineTime, door.name).toEqual(read?.deadlineTime);
    expect(run?.lastEventId, door.name).toBeLessThanOrEqual(read?.lastEventId ?? 0n);
    const between = Number(run?.createTime?.seconds) - Number(read?.createTime?.seconds);
    expect(Math.abs(between), door.name).toBeLessThanOrEqual(1);
  }
});

test("of many short runs the gateway misses no end", async () => {
  const door = stage().door("grpc-js");
  const request = (): Request => ({ start: { workflowId: KNOWN }, types: TERMINAL });
  const ended = await Promise.all(Array.from({ length: 200 }, () => execute(door, request())));
  expect(new Set(ended.map(({ events }) => events[0]?.type))).toEqual(new Set(["run.completed"]));
  expect(new Set(ended.map(({ runId }) => runId)).size).toBe(200);
});

type Start = MessageInitShape<typeof StartRunRequestSchema>;
const BAD: readonly (readonly [what: string, start: Start | undefined, refusal: Refusal])[] = [
  ["nothing to start", undefined, invalidField("start", "REQUIRED")],
  ["no workflow", {}, invalidField("start.workflow_id", "BAD_ID")],
  [
    "a workflow that is not there",
    { workflowId: "nowhere" },
    { code: "NotFound", reason: "WORKFLOW_NOT_FOUND" },
  ],
  [
    "an input that is no text",
    { workflowId: KNOWN, inputJson: Buffer.from("ff", "hex") },
    invalidField("start.input_json", "BAD_UNICODE"),
  ],
  [
    "an input that is too large",
    { workflowId: KNOWN, inputJson: Buffer.from(`"${"x".repeat(LIMITS.startInputBytes)}"`) },
    { code: "ResourceExhausted", reason: "LIMIT_EXCEEDED" },
  ],
  [
    "a priority out of range",
    { workflowId: KNOWN, priority: 1_001 },
    invalidField("start.priority", "OUT_OF_RANGE"),
  ],
  [
    "a deadline of no time",
    { workflowId: KNOWN, deadline: { seconds: 0n } },
    invalidField("start.deadline", "OUT_OF_RANGE"),
  ],
  [
    "a request id of two lines",
    { workflowId: KNOWN, requestId: "a\nb" },
    invalidField("start.request_id", "BAD_ID"),
  ],
  [
    "what only the scheduler refuses",
    { workflowId: KNOWN, idempotency: {} },
    invalidField("start.idempotency.scope", "UNKNOWN_ENUM"),
  ],
];

test.each(BAD)(
  "%s is refused by every client, and nothing is started",
  async (_, start, refusal) => {
    await stage().unharmed(async () => {
      for (const { name, runs } of stage().doors)
        await expectRefused(drain(runs.executeRun({ ...(start && { start }) })), refusal, name);
    });
  },
);

/** Starts a run that waits for a person, and gives the stream behind its first message. */
async function held({ runs }: Door, requestId: string, options: CallOptions = {}) {
  const request = { start: { workflowId: HELD, requestId } };
  const stream = runs.executeRun(request, options)[Symbol.asyncIterator]();
  const { done, value } = await stream.next();
  if (done === true) throw new Error("the stream ended without a run");
  return { runId: value.run?.runId ?? "", rest: drain({ [Symbol.asyncIterator]: () => stream }) };
}

test("a call that is broken off leaves its run alone, and is taken up again by saying it again", async () => {
  for (const door of stage().doors) {
    const requestId = randomUUID();
    const leave = new AbortController();
    const { runId, rest } = await held(door, requestId, { signal: leave.signal });
    leave.abort();
    expect((await failure(rest)).code, door.name).toBe(Code.Canceled);
    const again = await held(door, requestId);
    expect(again.runId).toBe(runId);
    expect((await door.runs.getRun({ runId })).run?.endTime, door.name).toBeUndefined();
    await door.runs.cancelRun({ runId });
    await again.rest;
    const { run } = await door.runs.getRun({ runId });
    expect(run?.status, door.name).toBe(RunStatus.CANCELLED);
  }
});

test("a call past its deadline ends as such, and its run continues", async () => {
  // Our transport over grpc-js knows no deadline of a stream.
  const doors = stage().doors.filter(({ name }) => name !== "grpc-js");
  expect(doors.length).toBeGreaterThan(2);
  const pass = async (door: (typeof doors)[number]): Promise<void> => {
    // Long enough for the first message on a busy machine.
    const { runId, rest } = await held(door, randomUUID(), { timeoutMs: 3_000 });
    expect((await failure(rest)).code, door.name).toBe(Code.DeadlineExceeded);
    expect((await door.runs.getRun({ runId })).run?.endTime, door.name).toBeUndefined();
    await door.runs.cancelRun({ runId });
  };
  await Promise.all(doors.map(pass));
});
