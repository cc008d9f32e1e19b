import { createRouterTransport } from "@connectrpc/connect";
import { type EnqueueCommandRequest, QueueService } from "@pawl/proto/pawl/v1/queue_service_pb";
import { CommandState, CommandType } from "@pawl/proto/pawl/v1/queued_command_pb";
import { Decision } from "@pawl/proto/pawl/v1/run_service_pb";
import { expect, test } from "vitest";
import { createPawlClient } from "./client.ts";
import { jsonTextOf } from "./json.ts";

const command = { commandId: "c", state: CommandState.WAITING };

test("a command is enqueued with its exact input or answer, and with a request id of its own", async () => {
  const asked: EnqueueCommandRequest[] = [];
  const transport = createRouterTransport(({ service }) => {
    service(QueueService, {
      enqueueCommand: (request) => {
        asked.push(request);
        return { command };
      },
    });
  });
  const { commands } = createPawlClient({ transport });
  const options = { priority: -2, maxAttempts: 5, delayMs: 1_500 };
  await commands.start("w", { ...options, inputJson: '{"n": 1.0}', runId: "name" });
  await commands.start("w", { input: [1] });
  await commands.resume("name", "ask", "reject", {
    ...{ workflowId: "w", iteration: 2, comment: "no", decidedBy: "ada", response: { a: 1 } },
  });
  const [exact, plain, resume] = asked;
  expect(exact).toMatchObject({
    ...{ type: CommandType.START, workflowId: "w", runId: "name", priority: -2, maxAttempts: 5 },
    delay: { seconds: 1n, nanos: 500_000_000 },
  });
  expect(jsonTextOf(exact?.inputJson)).toBe('{"n": 1.0}');
  expect(jsonTextOf(plain?.inputJson)).toBe("[1]");
  expect(plain?.delay).toBeUndefined();
  expect(resume).toMatchObject({
    ...{ type: CommandType.RESUME, runId: "name" },
    answer: { nodeId: "ask", iteration: 2, decision: Decision.REJECT, decidedBy: "ada" },
  });
  expect(jsonTextOf(resume?.answer?.responseJson)).toBe('{"a":1}');
  expect(new Set(asked.map(({ requestId }) => requestId)).size).toBe(3);
});

test("commands are listed by state, and stats are asked for a type, a range and a step", async () => {
  const seen: unknown[] = [];
  const transport = createRouterTransport(({ service }) => {
    service(QueueService, {
      listCommands: ({ states, pageSize, pageToken }) => {
        seen.push({ states, pageSize, pageToken });
        return { commands: [command], nextPageToken: "next" };
      },
      getQueueStats: ({ nodeType, range, step }) => {
        seen.push({ nodeType, range: range?.seconds, step: step?.seconds });
        return { total: { waiting: 3 } };
      },
    });
  });
  const { commands, queues } = createPawlClient({ transport });
  const states = [CommandState.DEAD_LETTER];
  const page = await commands.list({ states, pageSize: 2, pageToken: "t" });
  expect(page).toMatchObject({ commands: [command], nextPageToken: "next" });
  const stop = new AbortController();
  const asked = { nodeType: "http", rangeMs: 60_000, stepMs: 1_000, signal: stop.signal };
  for await (const { total } of queues.followStats({ ...asked, everyMs: 1 })) {
    expect(total?.waiting).toBe(3);
    if (seen.length === 3) stop.abort();
  }
  const stats = { nodeType: "http", range: 60n, step: 1n };
  expect(seen).toEqual([{ states, pageSize: 2, pageToken: "t" }, stats, stats]);
});
