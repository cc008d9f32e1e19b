// Bad requests about threads and assistants are refused with their field, and change nothing (rows C and J of the catalogue of bad inputs).
import { createClient } from "@connectrpc/connect";
import { createConnectTransport } from "@connectrpc/connect-node";
import { LIMITS } from "@pawl/core/data/limits";
import { AssistantService } from "@pawl/proto/pawl/v1/assistant_service_pb";
import { StopMode } from "@pawl/proto/pawl/v1/run_pb";
import { MultitaskStrategy, RunService } from "@pawl/proto/pawl/v1/run_service_pb";
import { ThreadService } from "@pawl/proto/pawl/v1/thread_service_pb";
import { expect, test } from "vitest";
import { drain, KNOWN, saveKnown } from "./known-workflow.ts";
import { expectRefused, invalidField, type Refusal } from "./refusal.ts";
import { useStage } from "./stage.ts";

const stage = useStage(undefined, saveKnown);

const workflowId = KNOWN;
const threadId = "bad-1";
const json = (value: unknown) => new Uint8Array(Buffer.from(JSON.stringify(value)));
const limited: Refusal = { code: "ResourceExhausted", reason: "LIMIT_EXCEEDED" };
// A number that no enum has.
const UNKNOWN = 99 as never;

function clients() {
  const transport = createConnectTransport({ baseUrl: stage().url, httpVersion: "1.1" });
  return {
    runs: createClient(RunService, transport),
    threads: createClient(ThreadService, transport),
    assistants: createClient(AssistantService, transport),
  };
}

/** A finished run of a thread. */
async function turn(of: string): Promise<string> {
  const { door } = stage();
  const start = { workflowId, threadId: of, createThread: true };
  const { runId = "" } = (await door("grpc-js").runs.startRun(start)).run ?? {};
  await drain(door("grpc-js").events.watchRun({ runId }));
  return runId;
}

test("a place in the history of a thread must be one of its own (S4.23)", async () => {
  const runId = await turn(threadId);
  const other = await turn("bad-2");
  const { threads } = clients();
  await stage().unharmed(async () => {
    for (const read of [threads.getThreadState, threads.forkThread]) {
      await expectRefused(read({ threadId, runId: other }), invalidField("run_id", "OTHER_THREAD"));
      const beyond = read({ threadId, runId, atEventId: 1_000n });
      await expectRefused(beyond, { code: "OutOfRange", reason: "CURSOR_OUT_OF_RANGE" });
      const nameless = read({ threadId, atEventId: 1n });
      await expectRefused(nameless, invalidField("run_id", "REQUIRED"));
    }
  });
});

test("metadata of threads and assistants have the limits of metadata of runs (S4.23)", async () => {
  const { threads, assistants } = clients();
  const deep = { a: { b: { c: { d: { e: {} } } } } };
  const wide = Object.fromEntries(
    Array.from({ length: LIMITS.metadataKeys + 1 }, (_, n) => [`k${n}`, n]),
  );
  const long = { a: "x".repeat(LIMITS.metadataBytes) };
  const ways = [
    (metadataJson: Uint8Array) => threads.createThread({ threadId: "bad-3", metadataJson }),
    (metadataJson: Uint8Array) => threads.updateThread({ threadId, metadataJson }),
    (metadataJson: Uint8Array) => threads.forkThread({ threadId, metadataJson }),
    (metadataJson: Uint8Array) => threads.listThreads({ metadataJson }),
    (metadataJson: Uint8Array) =>
      assistants.createAssistant({ assistantId: "bad-3", spec: { workflowId, metadataJson } }),
    (metadataJson: Uint8Array) => assistants.listAssistants({ metadataJson }),
  ];
  await stage().unharmed(async () => {
    for (const [at, way] of ways.entries()) {
      const field = at === 4 ? "spec.metadata" : "metadata";
      for (const none of [[], "text", 7, null])
        await expectRefused(way(json(none)), invalidField(field, "NOT_AN_OBJECT"));
      for (const large of [deep, wide, long]) await expectRefused(way(json(large)), limited);
    }
  });
});

test("an unknown status, strategy, release or mode is refused, and so is a thread that a start does not name (S4.26)", async () => {
  const { runs, threads, assistants } = clients();
  const runId = await turn(threadId);
  const start = { workflowId, threadId };
  const spec = { workflowId, defaults: { threadRelease: UNKNOWN } };
  const refusals: readonly [() => Promise<unknown>, field: string, rule: string][] = [
    [() => threads.listThreads({ statuses: [UNKNOWN] }), "statuses", "UNKNOWN_ENUM"],
    [
      () => runs.startRun({ ...start, multitaskStrategy: UNKNOWN }),
      "multitask_strategy",
      "UNKNOWN_ENUM",
    ],
    [() => runs.startRun({ ...start, threadRelease: UNKNOWN }), "thread_release", "UNKNOWN_ENUM"],
    [
      () => assistants.createAssistant({ assistantId: "bad-4", spec }),
      "spec.defaults.thread_release",
      "UNKNOWN_ENUM",
    ],
    [() => assistants.createAssistant({ assistantId: "bad-4" }), "spec", "REQUIRED"],
    [() => runs.cancelRun({ runId, mode: UNKNOWN }), "mode", "UNKNOWN_ENUM"],
    [
      () => runs.cancelRun({ runId, mode: StopMode.INTERRUPT, compensate: true }),
      "compensate",
      "NOT_ALLOWED",
    ],
    [() => runs.startRun({ workflowId, createThread: true }), "thread_id", "REQUIRED"],
    [
      () => runs.startRun({ workflowId, multitaskStrategy: MultitaskStrategy.ENQUEUE }),
      "thread_id",
      "REQUIRED",
    ],
  ];
  await stage().unharmed(async () => {
    for (const [call, field, rule] of refusals)
      await expectRefused(call(), invalidField(field, rule));
  });
});

test("C7: lists of threads and of assistants refuse a page of another list, of another filter, and of a negative size", async () => {
  const { threads, assistants } = clients();
  for (const id of ["page-1", "page-2"]) {
    await threads.createThread({ threadId: id });
    await assistants.createAssistant({ assistantId: id, spec: { workflowId } });
  }
  const ofThreads = (await threads.listThreads({ pageSize: 1 })).nextPageToken;
  const ofAssistants = (await assistants.listAssistants({ pageSize: 1 })).nextPageToken;
  const foreign = invalidField("page_token", "BAD_PAGE_TOKEN");
  const metadataJson = json({ a: 1 });
  await stage().unharmed(async () => {
    for (const pageToken of [ofAssistants, `${ofThreads}x`, "x"])
      await expectRefused(threads.listThreads({ pageToken }), foreign);
    for (const pageToken of [ofThreads, `${ofAssistants}x`, "x"])
      await expectRefused(assistants.listAssistants({ pageToken }), foreign);
    await expectRefused(threads.listThreads({ pageToken: ofThreads, metadataJson }), foreign);
    const filtered = assistants.listAssistants({ pageToken: ofAssistants, metadataJson });
    await expectRefused(filtered, foreign);
    for (const list of [threads.listThreads, assistants.listAssistants])
      await expectRefused(list({ pageSize: -1 }), invalidField("page_size", "OUT_OF_RANGE"));
  });
});

test("at most a hundred runs wait for one thread, and a forced deletion removes all of them (S4.2, S4.29)", async () => {
  const { runs, threads } = clients();
  const start = {
    ...{ workflowId, threadId: "crowded", createThread: true },
    multitaskStrategy: MultitaskStrategy.ENQUEUE,
    afterSeconds: 3_600,
  };
  await Promise.all(Array.from({ length: LIMITS.threadWaiting }, () => runs.startRun(start)));
  await stage().unharmed(async () => {
    const refused: Refusal = { code: "Aborted", reason: "THREAD_BUSY" };
    await expectRefused(runs.startRun(start), refused);
  });
  await threads.deleteThread({ threadId: "crowded", force: true });
  const { rows } = await stage().db.query("select 1 from pawl.runs where thread_id = 'crowded'");
  expect(rows).toEqual([]);
});
