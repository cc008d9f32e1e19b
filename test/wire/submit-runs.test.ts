// Starts and ends over one standing stream: every answer by its request id, typed refusals, the same run for a repeat on another stream and
// at another gateway, and the bounds of a stream.
import { randomUUID } from "node:crypto";
import { once } from "node:events";
import { connect } from "node:http2";
import { Code, createClient } from "@connectrpc/connect";
import { createConnectTransport, createGrpcTransport } from "@connectrpc/connect-node";
import { create, type MessageInitShape, toBinary } from "@bufbuild/protobuf";
import { LIMITS } from "@pawl/core/data/limits";
import { RunStatus } from "@pawl/proto/pawl/v1/run_pb";
import {
  RunService,
  type SubmissionAnswer,
  type SubmissionSchema,
  SubmitRunsRequestSchema,
} from "@pawl/proto/pawl/v1/run_service_pb";
import { expect, onTestFinished, test } from "vitest";
import { until } from "../support/until.ts";
import { KNOWN, saveKnown } from "./known-workflow.ts";
import { framed } from "./raw-call.ts";
import { failure } from "./refusal.ts";
import { useStage } from "./stage.ts";

type Request = MessageInitShape<typeof SubmitRunsRequestSchema>;
type Submission = MessageInitShape<typeof SubmissionSchema>;

const HELD = "held";
const BROKEN = "broken";
const LONG = "long";

const after = (type: string, config: object) =>
  JSON.stringify({
    nodes: [
      { id: "start", type: "start" },
      { id: "only", type, config },
    ],
    edges: [{ source: "start", target: "only" }],
  });

// So rarely that the gateway would not find an end without a hint in time.
const SELDOM = { gateway: { PAWL_POLL_MS: "60000" } };

const stage = useStage({ gateways: 2, envOf: SELDOM }, async (set) => {
  await saveKnown(set);
  const { workflows } = set.door("grpc-js");
  const save = (workflowId: string, text: string) =>
    workflows.createWorkflow({ workflowId, definition: { text } });
  await save(HELD, after("approval", { message: "Go on?" }));
  await save(BROKEN, after("javascript", { code: "throw new Error('no stock')" }));
  await save(LONG, after("javascript", { code: "return 'x'.repeat(200000)" }));
});

const transportsTo = (baseUrl: string) => [
  createGrpcTransport({ baseUrl }),
  createConnectTransport({ baseUrl, httpVersion: "2" }),
];

/** A stream that a test writes to and reads from. */
class Stream {
  readonly answers: SubmissionAnswer[] = [];
  /** How many answers each message had. */
  readonly sizes: number[] = [];
  readonly over: Promise<void>;
  readonly #leave = new AbortController();
  #queue: Request[] = [];
  #wake: (() => void) | undefined;
  #isEnded = false;

  constructor(transport = createGrpcTransport({ baseUrl: stage().url })) {
    const runs = createClient(RunService, transport);
    this.over = this.#read(runs.submitRuns(this.#requests(), { signal: this.#leave.signal }));
    this.over.catch(() => undefined);
    onTestFinished(() => this.cut());
  }

  send(...submissions: Submission[]): void {
    this.#queue.push({ submissions });
    this.#wake?.();
  }

  end(): void {
    this.#isEnded = true;
    this.#wake?.();
  }

  cut(): void {
    this.#leave.abort();
  }

  /** The answers to one submission, once `count` of them are here. */
  async of(requestId: string, count = 1): Promise<SubmissionAnswer[]> {
    return until(
      () => {
        const found = this.answers.filter((answer) => answer.requestId === requestId);
        return found.length >= count ? found : undefined;
      },
      { what: `${count} answers to ${requestId}` },
    );
  }

  /** How a submission that waits ended. */
  async endOf(requestId: string) {
    return until(
      () => this.answers.find((answer) => answer.requestId === requestId && answer.end)?.end,
      { what: `the end of ${requestId}` },
    );
  }

  async #read(messages: AsyncIterable<{ readonly answers: SubmissionAnswer[] }>): Promise<void> {
    for await (const { answers } of messages) {
      this.sizes.push(answers.length);
      this.answers.push(...answers);
    }
  }

  async *#requests(): AsyncGenerator<Request> {
    for (;;) {
      yield* this.#queue.splice(0);
      if (this.#isEnded) return;
      await new Promise<void>((resolve) => (this.#wake = resolve));
    }
  }
}

const start = (workflowId: string, requestId: string = randomUUID(), wait = true) => ({
  start: { workflowId, requestId, inputJson: Buffer.from("[1]") },
  wait,
});

test("over gRPC and Connect, each submission gets its run, and its end if it waits; the stream ends after the last answer", async () => {
  for (const transport of transportsTo(stage().url)) {
    const stream = new Stream(transport);
    const waits = start(KNOWN);
    const leaves = start(KNOWN, randomUUID(), false);
    const fails = start(BROKEN);
    const long = start(LONG);
    stream.send(waits, leaves, fails, long);
    stream.end();
    await stream.over;
    const [left, ...more] = await stream.of(leaves.start.requestId);
    expect(more).toEqual([]);
    expect([left?.accepted?.duplicate, left?.end]).toEqual([false, undefined]);
    const end = await stream.endOf(waits.start.requestId);
    expect(end.status).toBe(RunStatus.COMPLETED);
    const { runs } = stage().door("grpc-js");
    const { run } = await runs.getRun({ runId: end.runId });
    expect(Buffer.from(end.outputJson)).toEqual(Buffer.from(run?.outputJson ?? []));
    expect(end.lastEventId).toBe(run?.lastEventId);
    expect(await stream.endOf(fails.start.requestId)).toMatchObject({
      status: RunStatus.FAILED,
      failedNodeId: "only",
      errorMessage: expect.stringContaining("no stock"),
    });
    // Too long for its notification: the gateway reads it.
    expect((await stream.endOf(long.start.requestId)).outputJson.length).toBeGreaterThan(200_000);
  }
});

test("a submission that is refused has a typed reason, and those beside it run", async () => {
  const stream = new Stream();
  const good = start(KNOWN);
  const unknown = start("no-such-workflow");
  const nameless = { start: { workflowId: KNOWN }, wait: true };
  const bad = start(KNOWN, "with space");
  const text = { start: { workflowId: KNOWN, requestId: "r-json", inputJson: Buffer.from("{") } };
  stream.send(unknown, good, {}, nameless, bad, text);
  const [refusal] = await stream.of(unknown.start.requestId);
  expect(refusal?.refused).toMatchObject({ code: Code.NotFound, reason: "WORKFLOW_NOT_FOUND" });
  expect(refusal?.refused?.retryDelay).toBeUndefined();
  const invalid = (path: string) => ({
    code: Code.InvalidArgument,
    reason: "INPUT_INVALID",
    violations: [expect.objectContaining({ path })],
  });
  const [empty, missing] = await stream.of("", 2);
  expect([empty?.refused, missing?.refused]).toMatchObject([
    invalid("start"),
    invalid("start.request_id"),
  ]);
  expect((await stream.of("with space"))[0]?.refused).toMatchObject(invalid("start.request_id"));
  expect((await stream.of("r-json"))[0]?.refused?.reason).toBe("INPUT_INVALID");
  expect((await stream.endOf(good.start.requestId)).status).toBe(RunStatus.COMPLETED);
  const other = { start: { ...good.start, inputJson: Buffer.from("[2]") }, wait: true };
  stream.send(other);
  await until(() => stream.answers.at(-1)?.refused?.reason === "REQUEST_ID_REUSED", {
    what: "the refusal of a request id with another body",
  });
});

test("a repeat after a cut, before the answer, before the end or after it, gives the same run at any gateway", async () => {
  const urls = stage().cluster.gateways.map(({ url }) => url);
  const [here = "", there = ""] = urls;
  const held = start(HELD);
  const done = start(KNOWN);
  const early = start(KNOWN);
  const first = new Stream(createGrpcTransport({ baseUrl: here }));
  first.send(held, done);
  const [accepted] = await first.of(held.start.requestId);
  const end = await first.endOf(done.start.requestId);
  first.send(early);
  first.cut();
  const second = new Stream(createGrpcTransport({ baseUrl: there }));
  second.send(held, done, early);
  const [again] = await second.of(held.start.requestId);
  expect(again?.accepted).toMatchObject({ runId: accepted?.accepted?.runId, duplicate: true });
  expect(await second.endOf(done.start.requestId)).toEqual(end);
  expect((await second.endOf(early.start.requestId)).status).toBe(RunStatus.COMPLETED);
  const runId = accepted?.accepted?.runId ?? "";
  await stage().door("grpc-js").runs.cancelRun({ runId, reason: "enough" });
  expect(await second.endOf(held.start.requestId)).toMatchObject({
    runId,
    status: RunStatus.CANCELLED,
    errorMessage: "enough",
  });
});

test("answers and ends of many submissions share messages", async () => {
  const stream = new Stream();
  const many = Array.from({ length: 200 }, () => start(KNOWN));
  stream.send(...many);
  stream.end();
  await stream.over;
  expect(stream.answers.filter(({ end }) => end?.status === RunStatus.COMPLETED)).toHaveLength(200);
  expect(stream.sizes.filter((size) => size > 0).length).toBeLessThan(200);
});

test("one submission more than a stream may have is refused for now, and ends make room", async () => {
  const stream = new Stream();
  const held = Array.from({ length: LIMITS.submissions }, () => start(HELD));
  stream.send(...held);
  await until(() => stream.answers.length === held.length, { what: "every run to be accepted" });
  const extra = start(KNOWN);
  stream.send(extra);
  const [answer] = await stream.of(extra.start.requestId);
  expect(answer?.refused).toMatchObject({ code: Code.ResourceExhausted, reason: "STREAM_LIMIT" });
  expect(answer?.refused?.retryDelay).toBeDefined();
  const { runs } = stage().door("grpc-js");
  for (const { accepted } of stream.answers.slice(0, 2))
    await runs.cancelRun({ runId: accepted?.runId ?? "" });
  await until(() => stream.answers.filter(({ end }) => end !== undefined).length === 2, {
    what: "two ends",
  });
  stream.send(extra);
  expect((await stream.endOf(extra.start.requestId)).status).toBe(RunStatus.COMPLETED);
});

test("a message that is too large ends the stream with LIMIT_EXCEEDED, and no other stream", async () => {
  const other = new Stream();
  const stream = new Stream();
  const inputJson = Buffer.alloc(LIMITS.messageBytes + 1, "1");
  stream.send({ start: { workflowId: KNOWN, requestId: "huge", inputJson }, wait: true });
  const { code } = await failure(stream.over);
  expect(code).toBe(Code.ResourceExhausted);
  const good = start(KNOWN);
  other.send(good);
  expect((await other.endOf(good.start.requestId)).status).toBe(RunStatus.COMPLETED);
});

test("a reader that leaves a megabyte of answers unread is cut off; its runs exist, and another stream gives their ends", async () => {
  const session = connect(stage().url);
  onTestFinished(() => session.destroy());
  const stream = session.request({
    ":method": "POST",
    ":path": "/pawl.v1.RunService/SubmitRuns",
    "content-type": "application/grpc",
    te: "trailers",
  });
  stream.on("error", () => undefined);
  const many = Array.from({ length: 12 }, () => start(LONG));
  const message = create(SubmitRunsRequestSchema, { submissions: many });
  stream.write(framed("gRPC", toBinary(SubmitRunsRequestSchema, message)));
  // Nothing reads: the window of the stream fills, and the answers stay in the gateway.
  await once(stream, "aborted");
  const again = new Stream();
  again.send(...many);
  for (const {
    start: { requestId },
  } of many) {
    expect((await again.endOf(requestId)).outputJson.length).toBeGreaterThan(200_000);
    expect((await again.of(requestId))[0]?.accepted?.duplicate).toBe(true);
  }
});
