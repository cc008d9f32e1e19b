// JSON in, JSON out. A client without the compiled contract (fetch as curl, buf curl by reflection) reads inputs, outputs and details as
// JSON. A client with the compiled contract gets the exact bytes, and only these if it asks for them.
import { createClient } from "@connectrpc/connect";
import { createConnectTransport, createGrpcTransport } from "@connectrpc/connect-node";
import { createPawlClient, jsonTextOf } from "@pawl/client";
import { ServerReflection } from "@pawl/proto/grpc/reflection/v1/reflection_pb";
import { ApprovalService } from "@pawl/proto/pawl/v1/approval_service_pb";
import { RunService } from "@pawl/proto/pawl/v1/run_service_pb";
import { ScheduleService } from "@pawl/proto/pawl/v1/schedule_service_pb";
import { expect, test } from "vitest";
import { bufCurl } from "./buf-curl.ts";
import { drain } from "./known-workflow.ts";
import { expectRefused, failure, invalidField } from "./refusal.ts";
import { useStage } from "./stage.ts";

const ECHO = "echo";
const ASK = "ask";
const INPUT = { name: "Ada", amount: 100.5, tags: ["a", null, true], deep: { z: 1, a: 2 } };

const stage = useStage(undefined, async ({ door }) => {
  const { workflows } = door("grpc-js");
  const start = { id: "start", type: "start" };
  const save = (workflowId: string, nodes: object[]) =>
    workflows.createWorkflow({
      workflowId,
      definition: {
        text: JSON.stringify({ nodes, edges: [{ source: "start", target: "next" }] }),
      },
    });
  await save(ECHO, [
    start,
    { id: "next", type: "javascript", config: { code: "return { got: ctx.input };" } },
  ]);
  const response_schema = { type: "object", properties: { ok: { type: "boolean" } } };
  await save(ASK, [
    start,
    {
      id: "next",
      type: "approval",
      config: { message: "Pay?", details: { amount: 7 }, response_schema },
    },
  ]);
});

/** The shapes are the contract's own JSON, as far as the tests read it. */
type Answer = {
  readonly run: { readonly runId: string };
  readonly events: readonly object[];
  readonly tags: readonly object[];
  readonly workflow: object;
  readonly approvals: readonly { readonly approvalId: string }[];
  readonly approval: object;
  readonly schedule: { readonly spec: object };
};

/** A call as curl makes it. */
async function curl(method: string, body: object, headers: Record<string, string> = {}) {
  const response = await fetch(`${stage().url}/pawl.v1.${method}`, {
    method: "POST",
    headers: { "content-type": "application/json", ...headers },
    body: JSON.stringify(body),
  });
  return (await response.json()) as Answer;
}

/** A run of ECHO to its end. */
async function echoed(): Promise<string> {
  const { run } = await curl("RunService/StartRun", { workflowId: ECHO, input: INPUT });
  const { runId } = run;
  const ended = await curl("RunService/WaitRun", { runId });
  expect(ended).toMatchObject({ hasEnded: true, run: { status: "RUN_STATUS_COMPLETED" } });
  return runId;
}

const base64 = (text: string | undefined): string => Buffer.from(text ?? "").toString("base64");

test("curl reads the input, every output, the definition, events and tags of a run as JSON, and the bytes are still there", async () => {
  const runId = await echoed();
  const got = await curl("RunService/GetRun", { runId });
  expect(got).toMatchObject({
    run: {
      input: INPUT,
      inputJson: expect.any(String),
      output: { next: { got: INPUT } },
      nodes: [{ nodeId: "start" }, { nodeId: "next", output: { got: INPUT } }],
    },
    definition: { nodes: [{ id: "start" }, { id: "next" }] },
    definitionJson: expect.any(String),
  });
  const { events } = await curl("EventService/ListEvents", { runId });
  expect(events).toContainEqual(
    expect.objectContaining({
      type: "node.completed",
      nodeCompleted: expect.objectContaining({ output: { got: INPUT } }),
    }),
  );
  expect(events).toContainEqual(
    expect.objectContaining({ runStarted: expect.objectContaining({ input: INPUT }) }),
  );
  const { tags } = await curl("EventService/ListTags", { runId });
  expect(tags).toContainEqual(
    expect.objectContaining({ tag: "node_started", metadata: expect.any(Object) }),
  );
  const { workflow } = await curl("WorkflowService/GetWorkflow", { workflowId: ECHO });
  expect(workflow).toMatchObject({ definition: { nodes: [{ id: "start" }, { id: "next" }] } });
});

test("curl that asks for values only gets no base64 at all", async () => {
  const runId = await echoed();
  const got = await curl("RunService/GetRun", { runId }, { "pawl-json": "values" });
  expect(got).toMatchObject({ run: { output: { next: { got: INPUT } } } });
  expect(JSON.stringify(got)).not.toContain("Json");
});

test.each(["grpc", "grpcweb", "connect"] as const)(
  "buf curl --protocol %s reads outputs as JSON by reflection, unary and streaming",
  async (protocol) => {
    const runId = await echoed();
    const call = async (method: string, body: object, header?: string) => {
      const asked = { protocol, body, ...(header === undefined ? {} : { header }) };
      const printed: Pick<Answer, "events">[] = [];
      for await (const message of bufCurl(`${stage().url}/pawl.v1.${method}`, asked))
        printed.push(message as Answer);
      return printed;
    };
    const got = await call("RunService/GetRun", { runId });
    expect(got).toMatchObject([{ run: { input: INPUT, output: { next: { got: INPUT } } } }]);
    const watched = await call("EventService/WatchRun", { runId }, "pawl-json: values");
    const events = watched.flatMap((message) => message.events);
    expect(events).toContainEqual(
      expect.objectContaining({
        nodeCompleted: expect.objectContaining({ output: { got: INPUT } }),
      }),
    );
    expect(JSON.stringify(events)).not.toContain("outputJson");
    const start = { start: { workflowId: ECHO, input: INPUT } };
    const executed = await call("RunService/ExecuteRun", start);
    expect(JSON.stringify(executed.at(-1))).toContain('"output":{"next":{"got":{');
  },
);

test.each([
  ["gateway", () => stage().port],
  ["scheduler", () => stage().cluster.schedulers[0]?.port],
])(
  "the %s describes the details of its errors by reflection, so that tools can print them",
  async (_, port) => {
    const baseUrl = `http://127.0.0.1:${port()}`;
    const reflection = createClient(ServerReflection, createGrpcTransport({ baseUrl }));
    const asked = async function* () {
      for (const value of ["google.rpc.ErrorInfo", "google.rpc.BadRequest"])
        yield { messageRequest: { case: "fileContainingSymbol", value } as const };
    };
    for await (const { messageResponse } of reflection.serverReflectionInfo(asked()))
      expect(messageResponse.case).toBe("fileDescriptorResponse");
  },
);

test("our typed client gets the exact bytes and no values, over every transport it may be given", async () => {
  const runId = await echoed();
  const baseUrl = stage().url;
  const clients = [
    createPawlClient({ baseUrl }),
    createPawlClient({ transport: createGrpcTransport({ baseUrl }) }),
    createPawlClient({
      transport: createConnectTransport({ baseUrl, httpVersion: "1.1", useBinaryFormat: false }),
    }),
  ];
  const { rows } = await stage().db.query<{ value: string }>(
    "select value::text from pawl.run_events where run_id = $1 and type = 'node.completed' and node_id = 'next'",
    [runId],
  );
  for (const client of clients) {
    const { run } = await client.runs.get(runId);
    expect([run.input, run.output, run.nodes[1]?.output]).toEqual([
      undefined,
      undefined,
      undefined,
    ]);
    expect(jsonTextOf(run.nodes[1]?.outputJson)).toBe(rows[0]?.value);
    for await (const { fact } of client.watch(runId))
      if (fact.case === "nodeCompleted") expect(fact.value.output).toBeUndefined();
  }
});

test.each(["grpc-js", "gRPC", "gRPC-web", "Connect", "Connect JSON"])(
  "a client of %s that is older than the values gets its bytes as before, and one that says nothing gets both",
  async (name) => {
    const runId = await echoed();
    const { runs } = stage().door(name);
    const { run } = await runs.getRun({ runId });
    const text = jsonTextOf(run?.outputJson);
    expect(JSON.parse(text ?? "")).toEqual({ next: { got: INPUT } });
    expect(run?.output).toBeDefined();
    const { run: exact } = await runs.getRun({ runId }, { headers: { "pawl-json": "bytes" } });
    expect([jsonTextOf(exact?.outputJson), exact?.output]).toEqual([text, undefined]);
    await expectRefused(
      runs.getRun({ runId }, { headers: { "pawl-json": "yaml" } }),
      invalidField("pawl-json", "UNKNOWN_FORM"),
    );
  },
);

test("an approval is read and answered by curl in JSON", async () => {
  const { run } = await curl("RunService/StartRun", { workflowId: ASK });
  const { runId } = run;
  for await (const { events } of stage().door("grpc-js").events.watchRun({ runId }))
    if (events.some(({ type }) => type === "node.blocked")) break;
  const { approvals } = await curl("ApprovalService/ListApprovals", { runId });
  expect(approvals).toMatchObject([{ details: { amount: 7 } }]);
  const approvalId = approvals[0]?.approvalId ?? "";
  const { approval } = await curl("ApprovalService/GetApproval", { approvalId });
  expect(approval).toMatchObject({
    responseSchema: { type: "object", properties: { ok: { type: "boolean" } } },
  });
  const service = createClient(
    ApprovalService,
    createConnectTransport({ baseUrl: stage().url, httpVersion: "1.1" }),
  );
  const nan = { kind: { case: "numberValue", value: Number.NaN } } as const;
  await expectRefused(
    service.approveApproval({ approvalId, response: nan }),
    invalidField("response", "NUMBER_RANGE"),
  );
  const answered = await curl("ApprovalService/ApproveApproval", {
    approvalId,
    response: { ok: true },
  });
  expect(answered).toMatchObject({
    approval: { response: { ok: true }, responseJson: base64('{"ok":true}') },
  });
  await drain(stage().door("grpc-js").events.watchRun({ runId }));
});

test("a schedule is made, read and edited by curl in JSON; an edit that contradicts its own bytes is refused", async () => {
  const scheduleId = "nightly";
  const spec = { workflowId: ECHO, expression: "@daily", input: INPUT };
  await curl("ScheduleService/CreateSchedule", { scheduleId, spec });
  const { schedule } = await curl("ScheduleService/GetSchedule", { scheduleId });
  expect(schedule.spec).toMatchObject({ input: INPUT, inputJson: expect.any(String) });
  // A message that was read may be sent back whole.
  const same = await curl("ScheduleService/UpdateSchedule", { scheduleId, spec: schedule.spec });
  expect(same).toMatchObject({ schedule: { spec: { input: INPUT } } });
  const service = createClient(
    ScheduleService,
    createConnectTransport({ baseUrl: stage().url, httpVersion: "1.1" }),
  );
  const edit = {
    workflowId: ECHO,
    expression: "@daily",
    inputJson: Buffer.from("1"),
    input: { kind: { case: "numberValue", value: 2 } } as const,
  };
  await expectRefused(
    service.updateSchedule({ scheduleId, spec: edit }),
    invalidField("input", "AMBIGUOUS"),
  );
});

test("an unknown form is refused before the call does anything", async () => {
  const runs = createClient(
    RunService,
    createConnectTransport({ baseUrl: stage().url, httpVersion: "1.1" }),
  );
  await stage().unharmed(async () => {
    const headers = { "pawl-json": "yaml" };
    await failure(runs.startRun({ workflowId: ECHO }, { headers }));
    await failure(stage().door("grpc-js").runs.startRun({ workflowId: ECHO }, { headers }));
  });
});
