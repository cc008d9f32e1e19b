import { createRouterTransport } from "@connectrpc/connect";
import { PauseScope } from "@pawl/proto/pawl/v1/pause_pb";
import { QueueService } from "@pawl/proto/pawl/v1/queue_service_pb";
import { RunStatus } from "@pawl/proto/pawl/v1/run_pb";
import {
  type PauseRunRequest,
  type ResumeRunRequest,
  RunService,
  type TopUpRunRequest,
} from "@pawl/proto/pawl/v1/run_service_pb";
import { WorkflowService } from "@pawl/proto/pawl/v1/workflow_service_pb";
import { expect, test } from "vitest";
import { createPawlClient } from "./client.ts";

test("pausing and resuming a run say who, why and whether the runs below it are meant", async () => {
  const asked: (PauseRunRequest | ResumeRunRequest)[] = [];
  const transport = createRouterTransport(({ service }) => {
    service(RunService, {
      pauseRun: (request) => {
        asked.push(request);
        return { run: { runId: request.runId, status: RunStatus.PAUSED } };
      },
      resumeRun: (request) => {
        asked.push(request);
        return { run: { runId: request.runId, status: RunStatus.RUNNING } };
      },
    });
  });
  const { runs } = createPawlClient({ transport });
  const words = { by: "ada", reason: "a look", children: true };
  expect((await runs.pause("r", words)).status).toBe(RunStatus.PAUSED);
  expect((await runs.resume("r")).status).toBe(RunStatus.RUNNING);
  expect(asked).toMatchObject([
    { runId: "r", ...words },
    { runId: "r", by: "", reason: "", children: false },
  ]);
  expect(asked[0]?.requestId).not.toBe(asked[1]?.requestId);
});

test("a top-up sends whole micro-dollars and a request id of its own, and refuses an amount that is not above 0", async () => {
  const asked: TopUpRunRequest[] = [];
  const transport = createRouterTransport(({ service }) => {
    service(RunService, {
      topUpRun: (request) => {
        asked.push(request);
        return { run: { runId: request.runId, status: RunStatus.RUNNING } };
      },
    });
  });
  const { runs } = createPawlClient({ transport });
  const run = await runs.topUp("r", { tokens: 5, costUsd: 0.25 }, { by: "ada" });
  expect(run.status).toBe(RunStatus.RUNNING);
  expect(asked).toMatchObject([
    { runId: "r", by: "ada", amounts: { tokens: 5n, costMicros: 250_000n } },
  ]);
  expect(asked[0]?.requestId).not.toBe("");
  for (const tokens of [-1, 0, NaN, 1.5, Infinity])
    expect(() => runs.topUp("r", { tokens })).toThrow(RangeError);
});

test("pausing and resuming a workflow or a queue send by and reason, and pauses are listed", async () => {
  const asked: object[] = [];
  const transport = createRouterTransport(({ service }) => {
    service(WorkflowService, {
      pauseWorkflow: (request) => {
        asked.push(request);
        return { pause: { scope: PauseScope.WORKFLOW, name: request.workflowId, pausing: true } };
      },
      resumeWorkflow: () => ({ resuming: true }),
    });
    service(QueueService, {
      pauseQueue: (request) => {
        asked.push(request);
        return { pause: { scope: PauseScope.QUEUE, name: request.nodeType } };
      },
      resumeQueue: () => ({}),
      listPauses: () => ({ pauses: [{ scope: PauseScope.QUEUE, name: "http" }] }),
    });
  });
  const { workflows, queues } = createPawlClient({ transport });
  const words = { by: "ada", reason: "a look" };
  expect(await workflows.pause("w", words)).toMatchObject({ name: "w", pausing: true });
  expect(await workflows.resume("w")).toEqual({ resuming: true });
  expect(await queues.pause("http", words)).toMatchObject({ name: "http" });
  await queues.resume("http");
  expect(await queues.pauses()).toMatchObject([{ scope: PauseScope.QUEUE, name: "http" }]);
  expect(asked).toMatchObject([
    { workflowId: "w", ...words, requestId: expect.stringMatching(/./) },
    { nodeType: "http", ...words, requestId: expect.stringMatching(/./) },
  ]);
});
