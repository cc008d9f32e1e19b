import { fromJson } from "@bufbuild/protobuf";
import { ValueSchema } from "@bufbuild/protobuf/wkt";
import { Code, ConnectError, createClient } from "@connectrpc/connect";
import { createGrpcTransport } from "@connectrpc/connect-node";
import { EngineError } from "@pawl/core/fault/engine-error";
import { ErrorInfoSchema, RetryInfoSchema } from "@pawl/proto/google/rpc/error_details_pb";
import {
  Health,
  HealthCheckResponse_ServingStatus as Serving,
} from "@pawl/proto/grpc/health/v1/health_pb";
import { EventService } from "@pawl/proto/pawl/v1/event_service_pb";
import { RunStatus } from "@pawl/proto/pawl/v1/run_pb";
import { RunService, type StartRunRequest } from "@pawl/proto/pawl/v1/run_service_pb";
import { WorkflowService } from "@pawl/proto/pawl/v1/workflow_service_pb";
import { expect, test } from "vitest";
import { type GatewayFixture, startGateway } from "./gateway.fixture.ts";

function clients(gateway: GatewayFixture) {
  const transport = createGrpcTransport({ baseUrl: gateway.url });
  return {
    runs: createClient(RunService, transport),
    workflows: createClient(WorkflowService, transport),
    events: createClient(EventService, transport),
    health: createClient(Health, transport),
  };
}

/** The error of a failed call. */
async function failure(call: Promise<unknown>) {
  const error = await call.then(
    () => undefined,
    (thrown: unknown) => ConnectError.from(thrown),
  );
  return {
    code: error?.code,
    ...error?.findDetails(ErrorInfoSchema)[0],
    retryDelay: error?.findDetails(RetryInfoSchema)[0]?.retryDelay,
  };
}

test("a command is checked, given a request id and forwarded; the answer comes back", async () => {
  const seen: StartRunRequest[] = [];
  const gateway = await startGateway({
    runs: {
      startRun: async (request) => {
        seen.push(request);
        return { run: { runId: "r" }, duplicate: true };
      },
    },
  });
  const { runs } = clients(gateway);
  const answer = await runs.startRun({
    workflowId: "orders",
    input: fromJson(ValueSchema, { a: 1 }),
  });
  expect(answer).toMatchObject({ run: { runId: "r" }, duplicate: true });
  expect(Buffer.from(seen[0]?.inputJson ?? []).toString()).toBe('{"a":1}');
  expect(seen[0]?.input).toBeUndefined();
  expect(seen[0]?.requestId).toMatch(/^[0-9a-f-]{36}$/);
  expect(await failure(runs.startRun({ workflowId: "../x" }))).toMatchObject({
    reason: "INPUT_INVALID",
  });
  expect(seen).toHaveLength(1);
});

test("the scheduler's errors pass through with their details", async () => {
  const gateway = await startGateway({
    runs: {
      cancelRun: () =>
        Promise.reject(
          new EngineError("RUN_ALREADY_FINISHED", "It is over.", { metadata: { run_id: "x" } }),
        ),
    },
  });
  const run = await gateway.addRun();
  expect(await failure(clients(gateway).runs.cancelRun({ runId: run }))).toMatchObject({
    code: Code.FailedPrecondition,
    reason: "RUN_ALREADY_FINISHED",
    metadata: { run_id: "x" },
  });
});

test("without a scheduler commands fail with SCHEDULER_UNAVAILABLE and reads still work", async () => {
  const gateway = await startGateway();
  const run = await gateway.addRun();
  const { runs, health } = clients(gateway);
  expect((await health.check({})).status).toBe(Serving.SERVING);
  expect((await fetch(`${gateway.url}/readyz`)).status).toBe(200);
  await gateway.stopScheduler();
  expect(await failure(runs.startRun({ workflowId: "orders" }))).toMatchObject({
    code: Code.Unavailable,
    reason: "SCHEDULER_UNAVAILABLE",
    retryDelay: expect.anything(),
  });
  expect((await runs.getRun({ runId: run })).run?.runId).toBe(run);
  expect((await health.check({ service: RunService.typeName })).status).toBe(Serving.NOT_SERVING);
  const ready = await fetch(`${gateway.url}/readyz`);
  const [reason] = (await ready.text()).split("\n");
  expect([ready.status, reason]).toEqual([503, "SCHEDULER_UNAVAILABLE"]);
});

test("a run is folded from its log, and lists leave inputs and nodes out", async () => {
  const gateway = await startGateway();
  const run = await gateway.addRun();
  await gateway.append(run, "node.queued", { nodeId: "start" });
  const { runs, events } = clients(gateway);
  const { run: found, definitionJson } = await runs.getRun({ runId: run });
  expect(found).toMatchObject({
    status: RunStatus.SCHEDULED,
    lastEventId: 2n,
    traceId: "4bf92f3577b34da6a3ce929d0e0e4736",
  });
  expect(Buffer.from(found?.inputJson ?? []).toString()).toBe('{"n": 1}');
  expect(JSON.parse(Buffer.from(definitionJson).toString())).toMatchObject({ id: "orders" });
  const listed = await runs.listRuns({ statuses: [RunStatus.RUNNING], workflowId: "orders" });
  expect(listed.runs.map(({ runId, nodes }) => [runId, nodes.length])).toEqual([[run, 0]]);
  const page = await events.listEvents({ runId: run, pageSize: 1 });
  expect([page.events.length, page.hasMore]).toEqual([1, true]);
  expect(await failure(runs.listRuns({ statuses: [77 as RunStatus] }))).toMatchObject({
    reason: "INPUT_INVALID",
  });
  expect(await failure(events.listEvents({ runId: run, afterEventId: 3n }))).toMatchObject({
    reason: "CURSOR_OUT_OF_RANGE",
  });
});

test("the gateway validates a definition itself and reports every broken rule at once", async () => {
  const { workflows } = clients(await startGateway());
  const good = '{"nodes": [{"id": "s", "type": "start"}]}';
  const { violations, definitionJson } = await workflows.validateWorkflow({
    definition: { text: good },
  });
  expect([violations, definitionJson.length > 0]).toEqual([[], true]);
  const bad = await workflows.validateWorkflow({
    definition: { text: '{"nodes": [], "edges": [{"source": "a", "target": "b"}]}' },
  });
  expect(bad.violations.length).toBeGreaterThan(0);
  expect(await failure(workflows.getWorkflow({ workflowId: "nope" }))).toMatchObject({
    code: Code.NotFound,
    reason: "WORKFLOW_NOT_FOUND",
  });
});

test("an error that the framework makes itself has a reason too (P1, P13)", async () => {
  const gateway = await startGateway();
  const post = async (path: string, type: string, body: BodyInit) => {
    const answer = await fetch(`${gateway.url}/${path}`, {
      method: "POST",
      headers: { "content-type": type },
      body,
    });
    // Connect's errors are JSON of a known shape.
    const { code, details } = (await answer.json()) as {
      code: string;
      details: { debug?: object }[];
    };
    return { status: answer.status, code, ...details[0]?.debug };
  };
  const list = "pawl.v1.RunService/ListRuns";
  expect(await post(list, "application/json", "{")).toMatchObject({
    status: 400,
    code: "invalid_argument",
    reason: "INPUT_INVALID",
  });
  expect(await post(list, "application/json", '{"pageSizes": 1}')).toMatchObject({ status: 400 });
  expect(await post(list, "application/proto", Buffer.from("ffffff", "hex"))).toMatchObject({
    reason: "INPUT_INVALID",
  });
  expect(await post(list, "application/json", `{"pageToken":"${"x".repeat(5e6)}"}`)).toMatchObject({
    status: 429,
    reason: "LIMIT_EXCEEDED",
  });
  expect(await post("pawl.v1.RunService/Nope", "application/json", "{}")).toMatchObject({
    status: 501,
    code: "unimplemented",
    reason: "UNKNOWN_METHOD",
  });
});

test("a drain ends a watch with UNAVAILABLE and the cursor", async () => {
  const gateway = await startGateway();
  const run = await gateway.addRun();
  const watching = clients(gateway).events.watchRun({ runId: run })[Symbol.asyncIterator]();
  expect((await watching.next()).value?.events[0]?.eventId).toBe(1n);
  const next = watching.next();
  const stopped = gateway.stop();
  expect(await failure(next)).toMatchObject({
    code: Code.Unavailable,
    reason: "DRAINING",
    metadata: { cursor: "1" },
  });
  await stopped;
});
