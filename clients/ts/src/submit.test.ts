import { Code } from "@connectrpc/connect";
import { FailureClass, RunStatus } from "@pawl/proto/pawl/v1/run_pb";
import type { SubmitRunsRequest } from "@pawl/proto/pawl/v1/run_service_pb";
import { expect, onTestFinished, test } from "vitest";
import { SYSTEM_CLOCK } from "./backoff.ts";
import { createPawlClient } from "./client.ts";
import { jsonBytes, jsonOf } from "./json.ts";
import {
  type Script,
  ScriptedGateway,
  scriptedFailure,
  scriptedLog,
  type SubmitStep,
} from "./scripted-gateway.fixture.ts";
import { RunFailed } from "./submit.ts";
import { fetchTransport } from "./transport.ts";

async function serve(script: Script) {
  const gateway = new ScriptedGateway(script);
  const baseUrl = await gateway.start();
  onTestFinished(() => gateway.stop());
  return { gateway, baseUrl };
}

function clientTo(baseUrl: string | readonly string[]) {
  const client = createPawlClient({ baseUrl, clock: { ...SYSTEM_CLOCK, random: () => 0 } });
  onTestFinished(() => client.close());
  return client;
}

async function setup(submit: NonNullable<Script["submit"]>) {
  const { gateway, baseUrl } = await serve({ submit });
  return { gateway, client: clientTo(baseUrl) };
}

type Messages = AsyncIterable<SubmitRunsRequest>;

const completed = (requestId: string, value: unknown) => ({
  requestId,
  end: { runId: `run-${requestId}`, status: RunStatus.COMPLETED, outputJson: jsonBytes(value) },
});
const accepted = (requestId: string) => ({
  requestId,
  accepted: { runId: `run-${requestId}` },
});

/** Answers every submission with its own input. */
async function* echo(messages: Messages): AsyncGenerator<SubmitStep> {
  for await (const { submissions } of messages)
    yield {
      answers: submissions.map(({ start, wait }) => {
        const requestId = start?.requestId ?? "";
        const end = completed(requestId, jsonOf(start?.inputJson ?? new Uint8Array()));
        return { ...accepted(requestId), ...(wait ? end : {}) };
      }),
    };
}

const idsOf = (messages: readonly SubmitRunsRequest[] | undefined): string[] =>
  (messages ?? []).flatMap(({ submissions }) =>
    submissions.map(({ start }) => start?.requestId ?? ""),
  );

test("runs that are started at once share a stream and its messages, and each caller gets its own output", async () => {
  const { gateway, client } = await setup(echo);
  await client.run("warm", 0);
  const inputs = Array.from({ length: 200 }, (_, at) => ({ at }));
  const outputs = await Promise.all(
    inputs.map((input) => client.run<{ at: number }>("echo", input)),
  );
  expect(outputs).toEqual(inputs);
  expect(gateway.submitted).toHaveLength(1);
  expect(gateway.submitted[0]?.length).toBeLessThan(10);
});

test("a run that did not end well rejects with its id, its status and its error", async () => {
  const { client } = await setup(async function* (messages) {
    for await (const { submissions } of messages)
      for (const { start } of submissions)
        yield {
          answers: [
            {
              requestId: start?.requestId ?? "",
              accepted: { runId: "r1" },
              end: {
                runId: "r1",
                status: RunStatus.FAILED,
                errorMessage: "no stock",
                failedNodeId: "pay",
                cause: "acme.sold_out",
                failureClass: FailureClass.PERMANENT,
              },
            },
          ],
        };
  });
  const error = await client.run("order").catch((thrown: unknown) => thrown);
  expect(error).toBeInstanceOf(RunFailed);
  expect(error).toMatchObject({
    runId: "r1",
    status: "failed",
    error: "no stock",
    failedNodeId: "pay",
    cause: "acme.sold_out",
    failureClass: "permanent",
  });
});

for (const phase of ["before the answer", "before the end"] as const)
  test(`submissions without a final answer are sent again after a cut ${phase}, with the same request ids`, async () => {
    const { gateway, client } = await setup(async function* (messages, connection) {
      if (connection > 0) return yield* echo(messages);
      let count = 0;
      for await (const { submissions } of messages) {
        const ids = submissions.map(({ start }) => start?.requestId ?? "");
        count += ids.length;
        if (phase === "before the end") yield { answers: ids.map(accepted) };
        if (count === 3) yield { cut: true };
      }
    });
    const starts: string[] = [];
    const onStart = ({ runId }: { readonly runId: string }) => void starts.push(runId);
    const runs = [1, 2, 3].map((input) => client.run("echo", input, { onStart }));
    expect(await Promise.all(runs)).toEqual([1, 2, 3]);
    const [first, second] = gateway.submitted.map(idsOf);
    expect(new Set(first).size).toBe(3);
    expect(second?.toSorted()).toEqual(first?.toSorted());
    // The run is reported once, however often its submission was sent.
    expect(starts).toHaveLength(3);
  });

test("a submission that was answered is not sent again, and a drain moves the others to another stream", async () => {
  const { gateway, client } = await setup(async function* (messages, connection) {
    if (connection > 0) return yield* echo(messages);
    const seen: string[] = [];
    for await (const { submissions } of messages) {
      for (const { start } of submissions) seen.push(start?.requestId ?? "");
      if (seen.length < 2) continue;
      yield { answers: [completed(seen[0] ?? "", "first")] };
      yield { fail: scriptedFailure(Code.Unavailable, "DRAINING", "This gateway is stopping.") };
    }
  });
  const runs = ["a", "b"].map((id) => client.run("echo", id, { requestId: id }));
  expect(await Promise.all(runs)).toEqual(["first", "b"]);
  expect(idsOf(gateway.submitted[1])).toEqual(["b"]);
});

test("a refusal rejects its submission only; one that may succeed later is sent again", async () => {
  let refusals = 0;
  const { gateway, client } = await setup(async function* (messages) {
    for await (const { submissions } of messages)
      for (const { start } of submissions) {
        const requestId = start?.requestId ?? "";
        const later = { code: Code.ResourceExhausted, reason: "STREAM_LIMIT", retryDelay: {} };
        if (requestId === "bad")
          yield {
            answers: [
              {
                requestId,
                refused: {
                  code: Code.InvalidArgument,
                  reason: "INPUT_INVALID",
                  message: "start.input_json: is no JSON",
                  violations: [
                    { path: "start.input_json", reason: "BAD_JSON", message: "no JSON" },
                  ],
                  metadata: { next: "Correct the request." },
                },
              },
            ],
          };
        else if (requestId === "later" && refusals++ < 2)
          yield { answers: [{ requestId, refused: later }] };
        else yield { answers: [completed(requestId, requestId)] };
      }
  });
  const [bad, later, good] = await Promise.allSettled(
    ["bad", "later", "good"].map((id) => client.run("echo", id, { requestId: id })),
  );
  expect(bad).toMatchObject({
    reason: {
      reason: "INPUT_INVALID",
      code: Code.InvalidArgument,
      next: "Correct the request.",
      violations: [{ path: "start.input_json" }],
    },
  });
  expect([later, good]).toMatchObject([{ value: "later" }, { value: "good" }]);
  expect(idsOf(gateway.submitted[0]).filter((id) => id === "later")).toHaveLength(3);
});

test("an abort rejects its caller and leaves the run and the stream", async () => {
  const taken = Promise.withResolvers<void>();
  const { gateway, client } = await setup(async function* (messages) {
    for await (const { submissions } of messages)
      for (const { start } of submissions)
        if (start?.requestId === "left") taken.resolve();
        else yield { answers: [completed(start?.requestId ?? "", "next")] };
  });
  const leave = new AbortController();
  const left = client.run("slow", null, { requestId: "left", signal: leave.signal });
  await taken.promise;
  leave.abort();
  await expect(left).rejects.toMatchObject({ reason: "CALLER_CANCELLED" });
  expect(await client.run("quick")).toBe("next");
  expect(gateway.submitted).toHaveLength(1);
  const aborted = client.run("quick", null, { signal: AbortSignal.abort() });
  await expect(aborted).rejects.toMatchObject({ reason: "CALLER_CANCELLED" });
});

test("many starts have one outcome each, in the order of the list", async () => {
  const { gateway, client } = await setup(async function* (messages) {
    for await (const { submissions } of messages)
      yield {
        answers: submissions.toReversed().map(({ start, wait }) => {
          expect(wait).toBe(false);
          const requestId = start?.requestId ?? "";
          const refused = { code: Code.NotFound, reason: "WORKFLOW_NOT_FOUND", message: "no" };
          return start?.workflowId === "none" ? { requestId, refused } : accepted(requestId);
        }),
      };
  });
  const items = Array.from({ length: 1_500 }, (_, at) => ({
    workflowId: at === 7 ? "none" : "known",
    requestId: `s${at}`,
  }));
  const outcomes = await client.runs.startMany(items);
  expect(outcomes).toHaveLength(1_500);
  expect(outcomes[7]).toMatchObject({ ok: false, error: { reason: "WORKFLOW_NOT_FOUND" } });
  expect(outcomes[8]).toEqual({ ok: true, runId: "run-s8", isDuplicate: false });
  // A stream takes a thousand at once, so the others have a stream of their own.
  expect(gateway.submitted).toHaveLength(2);
  expect((await client.start("known", null, { requestId: "one" })).runId).toBe("run-one");
});

test("a client with several addresses continues at the next gateway when one is gone", async () => {
  const first = await serve({
    submit: async function* (messages) {
      for await (const _ of messages) yield { cut: true };
    },
  });
  const second = await serve({
    submit: echo,
    runs: { listRuns: () => ({ runs: [{ runId: "r2" }] }) },
  });
  const client = clientTo([first.baseUrl, second.baseUrl]);
  expect(await client.run("echo", "x")).toBe("x");
  await first.gateway.stop();
  expect((await client.runs.list()).runs).toMatchObject([{ runId: "r2" }]);
  expect(second.gateway.submitted).toHaveLength(1);
});

test("closing the client rejects its calls under way", async () => {
  const taken = Promise.withResolvers<void>();
  const { client } = await setup(async function* (messages) {
    for await (const _ of messages) taken.resolve();
    yield { answers: [] };
  });
  const run = client.run("slow");
  await taken.promise;
  client.close();
  await expect(run).rejects.toMatchObject({ reason: "CALLER_CANCELLED" });
  await expect(client.run("more")).rejects.toMatchObject({ reason: "CALLER_CANCELLED" });
});

test("without a stream in both directions, a run is one call: over fetch the output and the errors are the same", async () => {
  const value = { outputJson: jsonBytes([1]) };
  const log = scriptedLog("r1", [{ type: "run.completed", fact: { case: "runCompleted", value } }]);
  const failed = scriptedLog("r1", [
    { type: "run.failed", fact: { case: "runFailed", value: { message: "no stock" } } },
  ]);
  const { baseUrl } = await serve({
    execute: ({ start }) => [
      { accept: "r1" },
      { send: start?.workflowId === "good" ? log : failed },
    ],
    runs: { startRun: () => ({ run: { runId: "r1" }, duplicate: true }) },
  });
  const client = createPawlClient({ transport: fetchTransport(baseUrl) });
  const seen: string[] = [];
  const onStart = ({ runId }: { readonly runId: string }) => void seen.push(runId);
  expect(await client.run("good", null, { onStart })).toEqual([1]);
  expect(seen).toEqual(["r1"]);
  await expect(client.run("bad")).rejects.toMatchObject({ runId: "r1", error: "no stock" });
  const started = { runId: "r1", isDuplicate: true };
  expect(await client.start("good")).toEqual(started);
  expect(await client.runs.startMany([{ workflowId: "good" }])).toEqual([{ ok: true, ...started }]);
});
