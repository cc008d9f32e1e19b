import { durationFromMs, timestampFromDate } from "@bufbuild/protobuf/wkt";
import { createRouterTransport } from "@connectrpc/connect";
import { EffectState } from "@pawl/proto/pawl/v1/effect_pb";
import { EventService } from "@pawl/proto/pawl/v1/event_service_pb";
import { ExplainReason } from "@pawl/proto/pawl/v1/explain_pb";
import { Decision, RunService } from "@pawl/proto/pawl/v1/run_service_pb";
import { WorkflowService } from "@pawl/proto/pawl/v1/workflow_service_pb";
import { expect, test } from "vitest";
import { createPawlClient } from "./client.ts";
import { jsonBytes, jsonTextOf } from "./json.ts";

type Scripts = { readonly runs?: object; readonly events?: object; readonly workflows?: object };

/** A client of scripted services, and the requests that they got. */
function scripted({ runs = {}, events = {}, workflows = {} }: Scripts) {
  const transport = createRouterTransport(({ service }) => {
    service(RunService, runs);
    service(EventService, events);
    service(WorkflowService, workflows);
  });
  return createPawlClient({ transport });
}

test("an explanation has its reason, its evidence and its place in line", async () => {
  const asked: unknown[] = [];
  const { runs } = scripted({
    runs: {
      explainNode: (request: unknown) => {
        asked.push(request);
        const evidence = [{ eventId: 4n, type: "node.queued", nodeId: "n" }];
        const slotWait = { key: "k", aheadCount: 3 };
        return { explanation: { reason: ExplainReason.WAITING_SLOT, evidence, slotWait } };
      },
    },
  });
  const explained = await runs.explain("r", "n", { iteration: 2 });
  expect(asked).toMatchObject([{ runId: "r", nodeId: "n", iteration: 2 }]);
  expect(explained).toMatchObject({
    reason: ExplainReason.WAITING_SLOT,
    evidence: [{ eventId: 4n, type: "node.queued" }],
    slotWait: { aheadCount: 3 },
  });
});

test("the way of labels is asked for by node or by key, and an untrusted input is named in a start", async () => {
  const asked: unknown[] = [];
  const { runs } = scripted({
    runs: {
      explainTaint: (request: unknown) => {
        asked.push(request);
        const steps = [{ eventId: 4n, type: "node.completed", nodeId: "n", added: ["web"] }];
        return { trace: { labels: [{ label: "web", nodeId: "n" }], steps } };
      },
      startRun: (request: unknown) => {
        asked.push(request);
        return { run: { runId: "r" } };
      },
    },
  });
  const trace = await runs.explainTaint("r", { nodeId: "n", iteration: 2 });
  await runs.explainTaint("r", { memoryKey: "k" });
  await runs.start("w", { untrustedInput: true });
  expect(asked).toMatchObject([
    { runId: "r", nodeId: "n", iteration: 2, memoryKey: "" },
    { runId: "r", nodeId: "", memoryKey: "k" },
    { workflowId: "w", untrustedInput: true },
  ]);
  expect(trace).toMatchObject({
    labels: [{ label: "web", nodeId: "n" }],
    steps: [{ eventId: 4n, added: ["web"] }],
  });
});

test("an invocation has what the handler got and what came of it", async () => {
  const asked: unknown[] = [];
  const effects = [{ name: "charge", committed: true, resultJson: jsonBytes("ok") }];
  const { runs } = scripted({
    runs: {
      getInvocation: (request: unknown) => {
        asked.push(request);
        return { invocation: { type: "acme.pay@1", attempt: 2, inputJson: jsonBytes(1), effects } };
      },
    },
  });
  const invocation = await runs.invocation("r", "n", { iteration: 1 });
  expect(asked).toMatchObject([{ runId: "r", nodeId: "n", iteration: 1 }]);
  expect(invocation).toMatchObject({
    type: "acme.pay@1",
    attempt: 2,
    effects: [{ name: "charge" }],
  });
  expect(jsonTextOf(invocation.inputJson)).toBe("1");
});

test("a value that is too large for the log is read part by part, and takes the place of its reference", async () => {
  const asked: unknown[] = [];
  const json = Buffer.from(JSON.stringify({ text: "é".repeat(5) }));
  const cut = json.indexOf(0xa9);
  const parts = [json.subarray(0, cut), json.subarray(cut)];
  const { runs } = scripted({
    runs: {
      getValue: (request: { readonly part: number }) => {
        asked.push(request);
        return { data: parts[request.part], totalBytes: BigInt(json.length) };
      },
    },
  });
  const sha256 = "ab".repeat(32);
  expect(await runs.valueText("r", sha256)).toBe(json.toString());
  expect(asked).toMatchObject([
    { runId: "r", sha256, part: 0 },
    { runId: "r", sha256, part: 1 },
  ]);
  const reference = { "$pawl.value": { sha256, bytes: json.length } };
  const whole = await runs.whole("r", { n: 1, list: [reference, null], "$pawl.value": "x" });
  expect(whole).toEqual({ n: 1, list: [{ text: "ééééé" }, null], "$pawl.value": "x" });
});

test("effects, events and tags of a run come by page", async () => {
  const asked: unknown[] = [];
  const note =
    <Answer>(answer: Answer) =>
    (request: unknown): Answer => {
      asked.push(request);
      return answer;
    };
  const effects = [{ name: "charge", state: EffectState.COMMITTED }];
  const client = scripted({
    runs: { listEffects: note({ effects, nextPageToken: "t" }) },
    events: {
      listEvents: note({ events: [{ eventId: 4n }, { eventId: 5n }], hasMore: true }),
      listTags: note({ tags: [{ tag: "node_started" }] }),
    },
  });
  const page = { nodeId: "n", pageSize: 2, pageToken: "s" };
  expect(await client.runs.effects("r", page)).toMatchObject({ effects, nextPageToken: "t" });
  const events = await client.events.list("r", { afterEventId: 3, pageSize: 2 });
  expect([events.events.map(({ eventId }) => eventId), events.hasMore]).toEqual([[4n, 5n], true]);
  const tags = await client.events.tags("r", { nodeId: "n", afterEventId: 4n });
  expect(tags).toMatchObject({ tags: [{ tag: "node_started" }], hasMore: false });
  expect(asked).toMatchObject([
    { runId: "r", ...page },
    { runId: "r", afterEventId: 3n, pageSize: 2 },
    { runId: "r", nodeId: "n", afterEventId: 4n },
  ]);
});

test("a test run goes with its graph and its input to the letter, and gives its warnings", async () => {
  const asked: { inputJson: Uint8Array }[] = [];
  const { runs } = scripted({
    runs: {
      testRun: (request: { inputJson: Uint8Array }) => {
        asked.push(request);
        return { run: { runId: "r" }, duplicate: true, warnings: [{ reason: "UNUSED" }] };
      },
    },
  });
  const tested = await runs.test("nodes: []", { inputJson: '{"n": 1.0}', requestId: "q" });
  expect(tested).toMatchObject({ run: { runId: "r" }, isDuplicate: true });
  expect(tested.warnings).toMatchObject([{ reason: "UNUSED" }]);
  expect(asked).toMatchObject([{ requestId: "q", definition: { text: "nodes: []" } }]);
  expect(jsonTextOf(asked[0]?.inputJson)).toBe('{"n": 1.0}');
});

test("a test run says when it starts, how long it may take, and that it is temporary", async () => {
  const asked: object[] = [];
  const { runs } = scripted({
    runs: {
      testRun: (request: object) => {
        asked.push(request);
        return { run: { runId: "r" } };
      },
    },
  });
  const at = new Date("2026-12-01T06:00:00Z");
  const later = { afterMs: 1_500, temporary: true, maxRetries: 0, budget: { tokens: 9 } };
  await runs.test("nodes: []", later);
  await runs.test("nodes: []", { startAt: at, deadlineMs: 2_500, goal: "g", constraints: ["c"] });
  expect(asked).toMatchObject([
    { afterSeconds: 1.5, temporary: true, maxRetries: 0, budget: { tokens: 9n } },
    {
      startAt: timestampFromDate(at),
      deadline: durationFromMs(2_500),
      temporary: false,
      goal: "g",
    },
  ]);
  expect(asked[0]).not.toHaveProperty("startAt");
  expect(asked[1]).not.toHaveProperty("afterSeconds");
});

test("a decision about a node goes by name with its comment", async () => {
  const asked: { requestId: string }[] = [];
  const { runs } = scripted({
    runs: {
      decideNode: (request: { requestId: string }) => {
        asked.push(request);
        return { run: { runId: "r" } };
      },
    },
  });
  const no = { iteration: 1, comment: "no" };
  expect(await runs.decide("r", "n", "reject", no)).toMatchObject({ runId: "r" });
  await runs.decide("r", "n", "approve");
  expect(asked).toMatchObject([
    { runId: "r", nodeId: "n", decision: Decision.REJECT, ...no },
    { decision: Decision.APPROVE },
  ]);
  expect(new Set(asked.map(({ requestId }) => requestId)).size).toBe(2);
});

test("a signal goes to its run by name with its payload to the letter", async () => {
  const asked: { payloadJson: Uint8Array; requestId: string }[] = [];
  const { runs } = scripted({
    runs: {
      signalRun: (request: { payloadJson: Uint8Array; requestId: string }) => {
        asked.push(request);
        return { run: { runId: "r" }, duplicate: request.requestId === "same", kept: true };
      },
    },
  });
  const payloadJson = '{"n": 1.50}';
  expect(await runs.signal("r", "paid", { payloadJson, requestId: "same" })).toMatchObject({
    ...{ run: { runId: "r" }, isDuplicate: true, isKept: true },
  });
  expect((await runs.signal("r", "paid", { payload: [1] })).isDuplicate).toBe(false);
  await runs.signal("r", "paid");
  expect(asked).toMatchObject([
    { runId: "r", name: "paid", requestId: "same" },
    { runId: "r", name: "paid" },
    { runId: "r", name: "paid" },
  ]);
  const texts = asked.map((each) => new TextDecoder().decode(each.payloadJson));
  expect(texts).toEqual([payloadJson, "[1]", ""]);
  expect(new Set(asked.map(({ requestId }) => requestId)).size).toBe(3);
});

test("a recheck and the deletions of runs and workflows carry request ids", async () => {
  const asked: { requestId: string }[] = [];
  const note =
    (answer: object) =>
    (request: { requestId: string }): object => {
      asked.push(request);
      return answer;
    };
  const client = scripted({
    runs: { recheckRun: note({ run: { runId: "r" } }), deleteRun: note({}) },
    workflows: { deleteWorkflow: note({}) },
  });
  expect(await client.runs.recheck("r")).toMatchObject({ runId: "r" });
  await client.runs.delete("r", { requestId: "mine" });
  await client.workflows.delete("w", { force: true });
  expect(asked).toMatchObject([
    { runId: "r" },
    { runId: "r", requestId: "mine" },
    { workflowId: "w", force: true },
  ]);
  const ids = asked.map(({ requestId }) => requestId);
  expect(ids).not.toContain("");
  expect(new Set(ids).size).toBe(3);
});
