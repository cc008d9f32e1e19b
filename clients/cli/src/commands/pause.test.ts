import { Code } from "@connectrpc/connect";
import { timestampFromDate } from "@bufbuild/protobuf/wkt";
import { scriptedFailure } from "@pawl/client/scripted-gateway";
import { PauseScope } from "@pawl/proto/pawl/v1/pause_pb";
import type { PauseQueueRequest } from "@pawl/proto/pawl/v1/queue_service_pb";
import type { PauseWorkflowRequest } from "@pawl/proto/pawl/v1/workflow_service_pb";
import { expect, test } from "vitest";
import { setup } from "./scripted-host.fixture.ts";

const WORDS = { by: "ada", reason: "a bad model" };
const SINCE = timestampFromDate(new Date("2026-01-01T00:00:00.5Z"));
const QUEUE = { scope: PauseScope.QUEUE, name: "http", ...WORDS, sinceTime: SINCE };
const WORKFLOW = { scope: PauseScope.WORKFLOW, name: "refund", ...WORDS, sinceTime: SINCE };
const FLAGS = ["--by", "ada", "--reason", "a bad model"];

test("a workflow is paused and resumed by its id, with who and why, and the command says which runs have yet to follow", async () => {
  const asked: PauseWorkflowRequest[] = [];
  const { gateway, printed, pawl } = await setup({
    workflows: {
      pauseWorkflow(request) {
        asked.push(request);
        return { pause: { ...WORKFLOW, pausing: true } };
      },
      resumeWorkflow: () => ({ resuming: true }),
    },
  });
  await using _ = gateway;
  expect(await pawl("workflow", "pause", "refund", ...FLAGS)).toBe(0);
  expect(asked[0]).toMatchObject({ workflowId: "refund", ...WORDS });
  expect(printed.out).toContain("refund paused\nSome of its runs are not paused yet");
  expect(printed.out).toContain("`pawl workflow resume refund`");
  expect(await pawl("workflow", "resume", "refund", "-o", "json")).toBe(0);
  expect(printed.out).toContain('"resuming":true');
});

test("a queue is paused by its node type and is listed as paused; the error for an unknown type says where to look", async () => {
  const asked: PauseQueueRequest[] = [];
  const { gateway, printed, pawl } = await setup({
    queues: {
      pauseQueue(request) {
        asked.push(request);
        if (request.nodeType === "http") return { pause: QUEUE };
        throw scriptedFailure(
          Code.NotFound,
          "NODE_TYPE_NOT_FOUND",
          "There is no node type rocket.",
        );
      },
      resumeQueue: () => ({}),
      listPauses: () => ({ pauses: [QUEUE, { ...WORKFLOW, resuming: true }] }),
      getQueueDepth: () => ({
        total: { waiting: 3 },
        queues: [{ nodeType: "http", waiting: 3, held: true }],
      }),
    },
  });
  await using _ = gateway;
  expect(await pawl("queue", "pause", "http", ...FLAGS, "-o", "json")).toBe(0);
  expect(JSON.parse(printed.out)).toMatchObject({ scope: "queue", name: "http", ...WORDS });
  expect(asked[0]).toMatchObject({ nodeType: "http", ...WORDS });
  printed.out = "";
  expect(await pawl("queue", "pauses")).toBe(0);
  expect(printed.out.split("\n").map((line) => line.split(/\s{2,}/))).toEqual(
    expect.arrayContaining([
      ["queue", "http", "paused", "2026-01-01T00:00:00.500Z", "ada", "a bad model"],
      ["workflow", "refund", "resuming", "2026-01-01T00:00:00.500Z", "ada", "a bad model"],
    ]),
  );
  expect(await pawl("queue", "depth")).toBe(0);
  expect(printed.out).toMatch(/http +paused +3/);
  expect(await pawl("queue", "resume", "http")).toBe(0);
  expect(printed.out).toContain("http resumed");
  expect(await pawl("queue", "pause", "rocket")).toBe(3);
  expect(printed.error).toContain("NODE_TYPE_NOT_FOUND");
  expect(printed.error).toContain("`pawl queue depth`");
});
