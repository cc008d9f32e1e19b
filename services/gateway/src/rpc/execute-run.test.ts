import { create } from "@bufbuild/protobuf";
import { Code, ConnectError, createClient, createContextValues } from "@connectrpc/connect";
import { createGrpcTransport } from "@connectrpc/connect-node";
import { EngineError } from "@pawl/core/fault/engine-error";
import { runId } from "@pawl/core/name/ids";
import { ErrorInfoSchema } from "@pawl/proto/google/rpc/error_details_pb";
import { RunStatus } from "@pawl/proto/pawl/v1/run_pb";
import {
  ExecuteRunRequestSchema,
  RunService,
  type StartRunRequest,
  StartRunResponseSchema,
} from "@pawl/proto/pawl/v1/run_service_pb";
import { expect, test } from "vitest";
import { type GatewayFixture, startGateway } from "../gateway.fixture.ts";
import { MemoryLog, RUN } from "../watch/memory-log.fixture.ts";
import { setup } from "../watch/watching.fixture.ts";
import { executeRun, type ExecuteRunParts } from "./execute-run.ts";
import type { Scheduler } from "../request/forward.ts";

/** A gateway whose scheduler accepts every run, and a function that executes one. */
async function executing(env: Readonly<Record<string, string>> = {}) {
  const seen: StartRunRequest[] = [];
  const gateway: GatewayFixture = await startGateway(
    {
      runs: {
        startRun: async (request) => {
          seen.push(request);
          const run = { runId: await gateway.addRun(), status: RunStatus.RUNNING, lastEventId: 1n };
          return { run };
        },
      },
    },
    env,
  );
  const runs = createClient(RunService, createGrpcTransport({ baseUrl: gateway.url }));
  /** The run as accepted, and its stream. */
  const execute = async (types: string[] = [], timeoutMs?: number) => {
    const request = { start: { workflowId: "orders" }, types };
    const options = timeoutMs === undefined ? {} : { timeoutMs };
    const stream = runs.executeRun(request, options)[Symbol.asyncIterator]();
    const message = async () => {
      const { done, value } = await stream.next();
      return done === true ? undefined : value;
    };
    const first = await message();
    expect(first?.events).toEqual([]);
    const next = async () => (await message())?.events.map(({ eventId }) => Number(eventId));
    return { runId: runId(first?.run?.runId ?? ""), next };
  };
  return { gateway, execute, seen };
}

/** The error of a broken stream. */
async function failure(reading: Promise<unknown>) {
  const error = await reading.then(
    () => undefined,
    (thrown: unknown) => ConnectError.from(thrown),
  );
  const { reason, metadata } = error?.findDetails(ErrorInfoSchema)[0] ?? {};
  return { code: error?.code, reason, metadata };
}

test("the first message names the run, its events follow from the first one on, and the stream ends with the run", async () => {
  const { gateway, execute, seen } = await executing();
  const { runId: run, next } = await execute();
  expect(seen[0]).toMatchObject({ workflowId: "orders", requestId: expect.any(String) });
  expect(await next()).toEqual([1]);
  await gateway.append(run, "node.queued");
  expect(await next()).toEqual([2]);
  await gateway.append(run, "run.completed", { nodeId: "", status: "completed" });
  expect(await next()).toEqual([3]);
  expect(await next()).toBeUndefined();
});

test("a caller that waits for the end gets no other event", async () => {
  const { gateway, execute } = await executing();
  const { runId: run, next } = await execute(["run.completed"]);
  await gateway.append(run, "node.queued");
  await gateway.append(run, "run.completed", { nodeId: "", status: "completed" });
  let events = await next();
  // Skips the first heartbeat of a silent stream.
  while (events?.[0] === 0) events = await next();
  expect(events).toEqual([3]);
  expect(await next()).toBeUndefined();
});

/** A gateway that receives ends of the one run of `log` from the test; `startRun` is the scheduler. */
function listening(log: MemoryLog, startRun: Scheduler["runs"]["startRun"]) {
  const { fanout, watch } = setup({ findRun: log.findRun, readPage: log.readPage });
  const since = fanout.markNotifications();
  const parts: ExecuteRunParts = {
    scheduler: { runs: { startRun } as unknown as Scheduler["runs"] },
    watch,
    fanout: { markNotifications: () => since, endSince: (run, mark) => fanout.endSince(run, mark) },
  };
  const execute = async (types: string[], signal = new AbortController().signal) => {
    const start = { workflowId: "orders", priority: 7 };
    const request = create(ExecuteRunRequestSchema, { start, types });
    const context = { signal, timeoutMs: () => undefined, values: createContextValues() };
    const messages: unknown[] = [];
    for await (const { run, events } of executeRun(parts, request, context))
      messages.push([run?.runId, events.map(({ eventId }) => eventId)]);
    return messages;
  };
  return { fanout, execute };
}

const started = create(StartRunResponseSchema, {
  run: { runId: RUN, status: RunStatus.RUNNING, lastEventId: 1n },
});
const END = ["run.completed"];

test("a caller that wants only the end gets run and end in one message if the end was notified first; other callers get two messages", async () => {
  const log = new MemoryLog();
  log.append(1, "run.completed");
  const { fanout, execute } = listening(log, async () => started);
  fanout.ended(log.last);
  expect(await execute(END)).toEqual([[RUN, [1n]]]);
  expect(await execute([])).toEqual([
    [RUN, []],
    [undefined, [1n]],
  ]);
});

test("the command of a caller that leaves before the answer is cancelled", async () => {
  const asked = Promise.withResolvers<AbortSignal | undefined>();
  const answer = Promise.withResolvers<typeof started>();
  const { execute } = listening(new MemoryLog(), (_, { signal } = {}) => {
    asked.resolve(signal);
    return answer.promise;
  });
  const caller = new AbortController();
  const executed = execute(END, caller.signal);
  const signal = await asked.promise;
  caller.abort();
  expect(signal?.aborted).toBe(true);
  answer.reject(new EngineError("CALLER_CANCELLED", "the caller cancelled the call"));
  await expect(executed).rejects.toMatchObject({ reason: "CALLER_CANCELLED" });
});

test("a stream that is refused or that a drain ends has named its run, and its error names the cursor", async () => {
  const { gateway, execute } = await executing({ PAWL_SUBSCRIBERS_MAX: "1" });
  const first = await execute();
  expect(await first.next()).toEqual([1]);
  const second = await execute();
  expect(second.runId).not.toBe(first.runId);
  expect(await failure(second.next())).toMatchObject({
    code: Code.ResourceExhausted,
    reason: "STREAM_LIMIT",
    metadata: { cursor: "0" },
  });
  const broken = failure(first.next());
  await gateway.stop();
  expect(await broken).toMatchObject({
    code: Code.Unavailable,
    reason: "DRAINING",
    metadata: { cursor: "1" },
  });
});

test("the deadline of the call ends its stream", async () => {
  const { execute } = await executing();
  const { next } = await execute([], 1_000);
  expect(await next()).toEqual([1]);
  expect(await failure(next())).toMatchObject({ code: Code.DeadlineExceeded });
});

test("a scheduler that names no run is at fault, not the caller", async () => {
  const gateway = await startGateway({ runs: { startRun: async () => ({}) } });
  const runs = createClient(RunService, createGrpcTransport({ baseUrl: gateway.url }));
  const stream = runs.executeRun({ start: { workflowId: "orders" } })[Symbol.asyncIterator]();
  expect(await failure(stream.next())).toMatchObject({ code: Code.Internal, reason: "INTERNAL" });
});
