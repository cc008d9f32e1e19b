import { create } from "@bufbuild/protobuf";
import { Code, ConnectError } from "@connectrpc/connect";
import { createConnectTransport } from "@connectrpc/connect-node";
import { RunEventSchema } from "@pawl/proto/pawl/v1/event_pb";
import { RunSchema, RunStatus } from "@pawl/proto/pawl/v1/run_pb";
import type { StartRunRequest } from "@pawl/proto/pawl/v1/run_service_pb";
import { expect, test } from "vitest";
import { SYSTEM_CLOCK } from "./backoff.ts";
import { createPawlClient } from "./client.ts";
import { fetchTransport } from "./transport.ts";
import { jsonBytes, jsonOf, jsonTextBytes } from "./json.ts";
import { plainEvent, plainRun } from "./plain.ts";
import { type Script, ScriptedGateway, scriptedFailure } from "./scripted-gateway.fixture.ts";

async function setup(script: Script) {
  const gateway = new ScriptedGateway(script);
  const baseUrl = await gateway.start();
  const clock = { ...SYSTEM_CLOCK, pause: async () => {} };
  const transport = createConnectTransport({ baseUrl, httpVersion: "1.1" });
  return { gateway, client: createPawlClient({ transport, clock }), baseUrl };
}

test("a start whose answer was lost is repeated with the same request id", async () => {
  const requests: StartRunRequest[] = [];
  const { gateway, client } = await setup({
    runs: {
      startRun(request) {
        requests.push(request);
        if (requests.length < 3) throw new ConnectError("gone", Code.Unavailable);
        return { run: { runId: "r1" }, duplicate: true };
      },
    },
  });
  await using _ = gateway;
  const started = await client.runs.start("hello", { input: { name: "Ada" } });
  expect(started).toMatchObject({ run: { runId: "r1" }, isDuplicate: true });
  expect(new Set(requests.map(({ requestId }) => requestId)).size).toBe(1);
  expect(requests[0]?.requestId).toMatch(/^[0-9a-f-]{36}$/);
  expect(jsonOf(requests[0]?.inputJson ?? new Uint8Array())).toEqual({ name: "Ada" });
});

test("a call the server refuses is not repeated", async () => {
  let calls = 0;
  const { gateway, client } = await setup({
    runs: {
      cancelRun() {
        calls++;
        throw scriptedFailure(Code.FailedPrecondition, "RUN_ALREADY_FINISHED", "it has ended");
      },
    },
  });
  await using _ = gateway;
  await expect(client.runs.cancel("r1")).rejects.toMatchObject({ reason: "RUN_ALREADY_FINISHED" });
  expect(calls).toBe(1);
});

test("JSON text given as input goes to the server to the letter", async () => {
  const text = '{"big": 12345678901234567890, "x":1.0}';
  let sent = "";
  const { gateway, client } = await setup({
    runs: {
      startRun(request) {
        sent = new TextDecoder().decode(request.inputJson);
        return { run: { runId: "r1" } };
      },
    },
  });
  await using _ = gateway;
  await client.runs.start("hello", { inputJson: text });
  expect(sent).toBe(text);
});

test("an unreachable gateway is UNREACHABLE, over fetch as over connect-node and gRPC", async () => {
  const { gateway, client, baseUrl } = await setup({});
  await gateway.stop();
  await expect(client.runs.list()).rejects.toMatchObject({ reason: "UNREACHABLE" });
  for (const way of [{ transport: fetchTransport(baseUrl) }, { baseUrl }]) {
    const other = createPawlClient({ ...way, attempts: 1 });
    await expect(other.runs.list()).rejects.toMatchObject({ reason: "UNREACHABLE" });
    await expect(other.run("hello")).rejects.toMatchObject({ reason: "UNREACHABLE" });
  }
});

test("waiting returns the run as it ended", async () => {
  const { gateway, client } = await setup({
    watch: () => [{ send: [{ eventId: 9n, type: "run.failed" }] }],
    runs: { getRun: () => ({ run: { runId: "r1", status: RunStatus.FAILED } }) },
  });
  await using _ = gateway;
  expect(await client.runs.wait("r1")).toMatchObject({ status: RunStatus.FAILED });
  expect(gateway.watched[0]?.types).toContain("run.failed");
});

test("an aborted wait rejects", async () => {
  const controller = new AbortController();
  const { gateway, client } = await setup({
    watch: () => {
      controller.abort(new Error("enough"));
      return [{ stall: true }];
    },
  });
  await using _ = gateway;
  await expect(client.runs.wait("r1", { signal: controller.signal })).rejects.toThrow("enough");
});

test("apply creates a missing workflow, updates an existing one, and says when nothing changed", async () => {
  const saved = new Map<string, { version: number; text: string }>();
  const { gateway, client } = await setup({
    workflows: {
      validateWorkflow: ({ definition }) => ({
        definitionJson: jsonTextBytes(definition?.text ?? ""),
      }),
      getWorkflow({ workflowId }) {
        const known = saved.get(workflowId);
        if (known === undefined) throw scriptedFailure(Code.NotFound, "WORKFLOW_NOT_FOUND", "none");
        return { workflow: { workflowId, version: known.version } };
      },
      createWorkflow({ workflowId, definition }) {
        saved.set(workflowId, { version: 1, text: definition?.text ?? "" });
        return { workflow: { workflowId, version: 1 } };
      },
      updateWorkflow({ workflowId, definition }) {
        const known = saved.get(workflowId) ?? { version: 0, text: "" };
        const text = definition?.text ?? "";
        const version = known.text === text ? known.version : known.version + 1;
        saved.set(workflowId, { version, text });
        return { workflow: { workflowId, version } };
      },
    },
  });
  await using _ = gateway;
  const first = await client.workflows.apply({ id: "hello", nodes: [] });
  const second = await client.workflows.apply({ id: "hello", nodes: ["more"] });
  const third = await client.workflows.apply({ id: "hello", nodes: ["more"] });
  const seen = [first, second, third].map(({ outcome, workflow }) => [outcome, workflow.version]);
  expect(seen).toEqual([
    ["created", 1],
    ["updated", 2],
    ["unchanged", 2],
  ]);
});

test("an event as plain JSON has the envelope of the log and decoded user data (S1.48)", () => {
  const event = create(RunEventSchema, {
    eventId: 5n,
    runId: "r1",
    type: "node.completed",
    nodeId: "fetch",
    attempt: 1,
    time: { seconds: 1_700_000_000n },
    correlation: { traceId: "ab", wave: 1, phase: "engine" },
    fact: {
      case: "nodeCompleted",
      value: { outputJson: jsonBytes({ ok: true }), durationMs: 12n },
    },
  });
  expect(plainEvent(event)).toEqual({
    eventId: 5,
    type: "node.completed",
    runId: "r1",
    timestamp: "2023-11-14T22:13:20Z",
    correlation: { traceId: "ab", wave: 1, phase: "engine" },
    nodeId: "fetch",
    attempt: 1,
    payload: { output: { ok: true }, durationMs: 12 },
  });
});

test("a run as plain JSON has short status names", () => {
  const run = create(RunSchema, {
    runId: "r1",
    status: RunStatus.COMPLETED,
    outputJson: jsonBytes([1]),
  });
  expect(plainRun(run)).toEqual({ runId: "r1", status: "completed", output: [1] });
});
