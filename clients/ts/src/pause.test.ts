import { createRouterTransport } from "@connectrpc/connect";
import { RunStatus } from "@pawl/proto/pawl/v1/run_pb";
import {
  type PauseRunRequest,
  type ResumeRunRequest,
  RunService,
} from "@pawl/proto/pawl/v1/run_service_pb";
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
