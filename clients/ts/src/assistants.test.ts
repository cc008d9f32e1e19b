import { Code, ConnectError, createRouterTransport } from "@connectrpc/connect";
import {
  AssistantService,
  type CreateAssistantRequest,
  type ListAssistantsRequest,
  type UpdateAssistantRequest,
} from "@pawl/proto/pawl/v1/assistant_service_pb";
import {
  type ListRunsRequest,
  MultitaskStrategy,
  RunService,
  type StartRunRequest,
  ThreadRelease,
} from "@pawl/proto/pawl/v1/run_service_pb";
import { ThreadService, type UpdateThreadRequest } from "@pawl/proto/pawl/v1/thread_service_pb";
import { expect, test } from "vitest";
import { createPawlClient } from "./client.ts";

const text = (bytes: Uint8Array | undefined): string => new TextDecoder().decode(bytes);

test("assistants are made, found, edited and refused while busy", async () => {
  const created: CreateAssistantRequest[] = [];
  const listed: ListAssistantsRequest[] = [];
  const updated: UpdateAssistantRequest[] = [];
  const transport = createRouterTransport(({ service }) => {
    service(AssistantService, {
      createAssistant: (request) => {
        created.push(request);
        return { assistant: { assistantId: request.assistantId } };
      },
      getAssistant: () => ({ assistant: { version: 7 } }),
      listAssistants: (request) => {
        listed.push(request);
        return { assistants: [{ assistantId: "tutor" }], nextPageToken: "next" };
      },
      updateAssistant: (request) => {
        updated.push(request);
        return { assistant: { version: request.expectedVersion + 1 } };
      },
      deleteAssistant: () => {
        throw new ConnectError("run r has not ended", Code.Aborted);
      },
    });
  });
  const pawl = createPawlClient({ transport });
  const defaults = { goal: "teach", multitask: "enqueue", budget: { tokens: 7 } } as const;
  const input = { workflowId: "ask", config: { tone: "kind" }, defaults };
  await pawl.assistants.create("tutor", input);
  const spec = created[0]?.spec;
  expect(text(spec?.configJson)).toBe('{"tone":"kind"}');
  expect(spec?.defaults).toMatchObject({
    goal: "teach",
    multitaskStrategy: MultitaskStrategy.ENQUEUE,
    budget: { tokens: 7n },
  });
  expect(created[0]?.requestId).not.toBe("");
  expect((await pawl.assistants.get("tutor")).version).toBe(7);
  const page = await pawl.assistants.list({ metadata: { team: "a" }, pageToken: "t" });
  expect(page.nextPageToken).toBe("next");
  expect(text(listed[0]?.metadataJson)).toBe('{"team":"a"}');
  const exact = { workflowId: "ask", configJson: '{"n":1.50}' };
  expect((await pawl.assistants.update("tutor", exact, { expectedVersion: 7 })).version).toBe(8);
  expect(text(updated[0]?.spec?.configJson)).toBe('{"n":1.50}');
  await expect(pawl.assistants.delete("tutor")).rejects.toMatchObject({ code: Code.Aborted });
});

test("a start, a list of runs and a thread name an assistant", async () => {
  const started: StartRunRequest[] = [];
  const found: ListRunsRequest[] = [];
  const threads: UpdateThreadRequest[] = [];
  const transport = createRouterTransport(({ service }) => {
    service(RunService, {
      startRun: (request) => {
        started.push(request);
        return { run: { runId: "r" } };
      },
      listRuns: (request) => {
        found.push(request);
        return {};
      },
    });
    service(ThreadService, {
      updateThread: (request) => {
        threads.push(request);
        return { thread: { threadId: "chat" } };
      },
    });
  });
  const pawl = createPawlClient({ transport });
  await pawl.runs.start("", { assistantId: "tutor", threadRelease: "when_wanted" });
  expect(started[0]).toMatchObject({
    ...{ workflowId: "", assistantId: "tutor", threadRelease: ThreadRelease.WHEN_WANTED },
  });
  await pawl.runs.list({ assistantId: "tutor" });
  expect(found[0]).toMatchObject({ assistantId: "tutor" });
  await pawl.threads.update("chat", undefined, { assistantId: "" });
  expect(threads[0]).toMatchObject({ assistantId: "", metadataJson: new Uint8Array() });
});
