import { createRouterTransport } from "@connectrpc/connect";
import {
  type RepairRunRequest,
  type RetryRunRequest,
  RunService,
} from "@pawl/proto/pawl/v1/run_service_pb";
import { expect, test } from "vitest";
import { createPawlClient } from "./client.ts";

test("a repair shows its plan first and starts a run by its digest (X28)", async () => {
  const asked: (RepairRunRequest | RetryRunRequest)[] = [];
  const plan = { runId: "r", digest: "d" };
  const transport = createRouterTransport(({ service }) => {
    service(RunService, {
      repairRun: (request) => {
        asked.push(request);
        return request.dryRun ? { plan } : { plan, run: { runId: "new", repairOf: "r" } };
      },
      retryRun: (request) => {
        asked.push(request);
        return { run: { runId: "new" }, duplicate: true };
      },
    });
  });
  const { runs } = createPawlClient({ transport });
  const options = {
    fromNodes: ["a"],
    definition: "id: w",
    outputs: [{ nodeId: "b", outputJson: "1.0", handle: "yes" }],
    by: "ada",
  };
  const { digest } = await runs.planRepair("r", options);
  const repaired = await runs.repair("r", { ...options, input: { n: 1 }, planDigest: digest });
  expect(repaired).toMatchObject({ run: { repairOf: "r" }, plan, isDuplicate: false });
  const retried = await runs.retry("r", { latest: true, keepEffects: true });
  expect(retried).toMatchObject({ plan: undefined, isDuplicate: true });
  const outputs = [{ nodeId: "b", outputJson: new TextEncoder().encode("1.0"), handle: "yes" }];
  const sent = { runId: "r", fromNodes: ["a"], definition: { text: "id: w" }, outputs, by: "ada" };
  expect(asked).toMatchObject([
    { ...sent, dryRun: true, planDigest: "" },
    { ...sent, dryRun: false, planDigest: "d", inputJson: new TextEncoder().encode('{"n":1}') },
    { runId: "r", latest: true, keepEffects: true },
  ]);
  expect(new Set(asked.map(({ requestId }) => requestId)).size).toBe(3);
});
