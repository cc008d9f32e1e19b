import { Code, ConnectError, createRouterTransport } from "@connectrpc/connect";
import {
  MultitaskStrategy,
  RunService,
  type StartRunRequest,
} from "@pawl/proto/pawl/v1/run_service_pb";
import { StopMode } from "@pawl/proto/pawl/v1/run_pb";
import { ThreadStatus } from "@pawl/proto/pawl/v1/thread_pb";
import {
  type CreateThreadRequest,
  type ForkThreadRequest,
  type ListThreadsRequest,
  ThreadService,
} from "@pawl/proto/pawl/v1/thread_service_pb";
import { expect, test } from "vitest";
import { createPawlClient } from "./client.ts";
import type { Multitask } from "./threads.ts";

const text = (bytes: Uint8Array | undefined): string => new TextDecoder().decode(bytes);

test("threads are made, found, edited, read, forked and refused while busy", async () => {
  const created: CreateThreadRequest[] = [];
  const listed: ListThreadsRequest[] = [];
  const forked: ForkThreadRequest[] = [];
  const transport = createRouterTransport(({ service }) => {
    service(ThreadService, {
      createThread: (request) => {
        created.push(request);
        return { thread: { threadId: request.threadId } };
      },
      listThreads: (request) => {
        listed.push(request);
        return { threads: [{ threadId: "a" }], nextPageToken: "next" };
      },
      updateThread: ({ metadataJson }) => ({ thread: { metadataJson } }),
      getThreadState: ({ runId }) => ({ state: { runId } }),
      forkThread: (request) => {
        forked.push(request);
        return { thread: { forkedFrom: request.threadId } };
      },
      deleteThread: () => {
        throw new ConnectError("run r holds it", Code.Aborted);
      },
    });
  });
  const { threads } = createPawlClient({ transport });
  const metadata = { user: "ada" };
  await threads.create("a", { metadata });
  expect(text(created[0]?.metadataJson)).toBe('{"user":"ada"}');
  expect(created[0]?.requestId).not.toBe("");
  const page = await threads.list({ metadata, statuses: [ThreadStatus.BUSY], pageToken: "t" });
  expect(page.nextPageToken).toBe("next");
  expect(listed[0]).toMatchObject({ statuses: [ThreadStatus.BUSY], pageToken: "t" });
  expect(text((await threads.update("a", {})).metadataJson)).toBe("{}");
  expect((await threads.state("a", { runId: "r", atEventId: 7 })).runId).toBe("r");
  expect((await threads.fork("a", { runId: "r", atEventId: 7 })).forkedFrom).toBe("a");
  expect(forked[0]).toMatchObject({ runId: "r", atEventId: 7n, metadataJson: new Uint8Array() });
  await expect(threads.delete("a")).rejects.toMatchObject({ code: Code.Aborted });
});

test("a start names its thread and what happens when it is busy, and a stop names its mode", async () => {
  const started: StartRunRequest[] = [];
  const stops: StopMode[] = [];
  const transport = createRouterTransport(({ service }) => {
    service(RunService, {
      startRun: (request) => {
        started.push(request);
        return { run: { runId: "r" } };
      },
      cancelRun: ({ mode }) => {
        stops.push(mode);
        return { run: { stop: mode } };
      },
    });
  });
  const pawl = createPawlClient({ transport });
  const strategies: readonly Multitask[] = ["reject", "enqueue", "interrupt", "rollback"];
  for (const multitask of strategies)
    await pawl.runs.start("w", { threadId: "a", createThread: true, multitask });
  const { REJECT, ENQUEUE, INTERRUPT, ROLLBACK } = MultitaskStrategy;
  expect(started.map(({ multitaskStrategy }) => multitaskStrategy)).toEqual([
    REJECT,
    ENQUEUE,
    INTERRUPT,
    ROLLBACK,
  ]);
  expect(started[0]).toMatchObject({ threadId: "a", createThread: true });
  await pawl.runs.cancel("r", { mode: "rollback" });
  expect(stops).toEqual([StopMode.ROLLBACK]);
});
