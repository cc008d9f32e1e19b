import { createClient } from "@connectrpc/connect";
import { createGrpcTransport } from "@connectrpc/connect-node";
import { ErrorInfoSchema } from "@pawl/proto/google/rpc/error_details_pb";
import { RunStatus } from "@pawl/proto/pawl/v1/run_pb";
import { RunService, type SubmitRunsResponse } from "@pawl/proto/pawl/v1/run_service_pb";
import { expect, onTestFinished, test } from "vitest";
import { failure } from "../../../../test/wire/refusal.ts";
import { type GatewayFixture, startGateway } from "../gateway.fixture.ts";
import { AnswerBox } from "./answer-box.ts";

/** A stream with one submission, and its messages from the first one. */
function submit(gateway: GatewayFixture, wait = true) {
  const leave = new AbortController();
  onTestFinished(() => leave.abort());
  const runs = createClient(RunService, createGrpcTransport({ baseUrl: gateway.url }));
  const until = new Promise<void>((resolve) =>
    leave.signal.addEventListener("abort", () => resolve()),
  );
  async function* requests() {
    yield { submissions: [{ start: { workflowId: "orders", requestId: "r1" }, wait }] };
    await until;
  }
  return runs.submitRuns(requests(), { signal: leave.signal })[Symbol.asyncIterator]();
}

const next = async (messages: AsyncIterator<SubmitRunsResponse>) =>
  (await messages.next()).value.answers;

test("the first message comes at once, and the end of a run comes by its notification", async () => {
  const gateway = await startGateway({
    runs: { startRun: async () => ({ run: { runId: run, status: RunStatus.RUNNING } }) },
  });
  const run = await gateway.addRun();
  const messages = submit(gateway);
  expect(await next(messages)).toEqual([]);
  expect(await next(messages)).toMatchObject([{ requestId: "r1", accepted: { runId: run } }]);
  await gateway.append(run, "run.completed", {
    nodeId: "",
    payload: { hasFailures: false },
    value: { ok: true },
    status: "completed",
  });
  const [answer] = await next(messages);
  expect(answer).toMatchObject({ requestId: "r1", end: { runId: run, lastEventId: 2n } });
});

test("a drain ends the stream with DRAINING, with submissions under way and without", async () => {
  for (const wait of [true, false]) {
    const gateway = await startGateway({
      runs: { startRun: async () => ({ run: { runId: run, status: RunStatus.RUNNING } }) },
    });
    const run = await gateway.addRun();
    const messages = submit(gateway, wait);
    await next(messages);
    await next(messages);
    const ended = failure(messages.next());
    await gateway.stop();
    expect((await ended).findDetails(ErrorInfoSchema)[0]?.reason).toBe("DRAINING");
  }
});

test("a wait counts as a stream of the gateway: one too many is refused after its run was accepted", async () => {
  const gateway = await startGateway(
    { runs: { startRun: async () => ({ run: { runId: run, status: RunStatus.RUNNING } }) } },
    { PAWL_SUBSCRIBERS_MAX: "1" },
  );
  const run = await gateway.addRun();
  const messages = submit(gateway);
  await next(messages);
  const answers = [...(await next(messages))];
  if (answers.length === 1) answers.push(...(await next(messages)));
  expect(answers).toMatchObject([
    { accepted: { runId: run } },
    { refused: { reason: "STREAM_LIMIT" } },
  ]);
});

test("a silent box gives heartbeats, and answers that are added together leave together", async () => {
  const box = new AnswerBox(() => undefined, { heartbeatMs: 5, stallMs: 5_000 });
  const messages = box.messages();
  await messages.next();
  expect(await next(messages)).toEqual([]);
  const both = next(messages);
  box.add({ requestId: "a" });
  box.add({ requestId: "b" });
  expect(await both).toMatchObject([{ requestId: "a" }, { requestId: "b" }]);
});
