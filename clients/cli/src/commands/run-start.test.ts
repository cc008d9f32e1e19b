import { jsonBytes, jsonOf } from "@pawl/client";
import { IdempotencyScope } from "@pawl/proto/pawl/v1/run_service_pb";
import { expect, test } from "vitest";
import { setup } from "./scripted-host.fixture.ts";

const RUN = "019a8b3e-1111-7000-8000-000000000001";

test("start --dedupe-input asks that the same input starts nothing again (S1.59)", async () => {
  const asked: unknown[] = [];
  const { gateway, printed, pawl } = await setup({
    runs: {
      startRun: ({ idempotency, version }) => {
        asked.push([idempotency?.scope, idempotency?.ttl?.seconds, version]);
        return { run: { runId: RUN }, duplicate: true };
      },
    },
  });
  await using _ = gateway;
  const args = ["run", "start", "hello", "--dedupe-input", "24h", "--version", "2"];
  expect(await pawl(...args)).toBe(0);
  expect(asked).toEqual([[IdempotencyScope.INPUT_HASH, 86_400n, 2]]);
  expect(printed.out).toContain("no new run was started");
  expect(await pawl("run", "start", "hello", "--dedupe-input", "soon")).toBe(2);
  expect(printed.error).toContain("--dedupe-input soon: write it as");
});

test("start --sample uses the example input of the workflow, with --set over it", async () => {
  const inputs: unknown[] = [];
  const input = { examples: [{ order: "A-1", amount: 480 }] };
  const sampled = { nodes: [{ id: "s", type: "start", contracts: { input } }] };
  const bare = { nodes: [{ id: "s", type: "start" }] };
  const { gateway, printed, pawl } = await setup({
    workflows: {
      getWorkflow: ({ workflowId, version }) => ({
        workflow: {
          workflowId,
          definitionJson: jsonBytes(workflowId === "bare" || version === 1 ? bare : sampled),
        },
      }),
      validateWorkflow: () => ({ definitionJson: jsonBytes(sampled) }),
    },
    runs: {
      startRun: ({ inputJson }) => (inputs.push(jsonOf(inputJson)), { run: { runId: RUN } }),
      testRun: ({ inputJson }) => (inputs.push(jsonOf(inputJson)), { run: { runId: RUN } }),
    },
  });
  await using _ = gateway;
  expect(await pawl("run", "start", "order", "--sample")).toBe(0);
  expect(await pawl("run", "start", "order", "--sample", "--set", "amount=5")).toBe(0);
  expect(await pawl("run", "test", "-f", "x.yaml", "--sample")).toBe(0);
  expect(inputs).toEqual([
    { order: "A-1", amount: 480 },
    { order: "A-1", amount: 5 },
    { order: "A-1", amount: 480 },
  ]);
  for (const wrong of [["bare"], ["order", "--version", "1"]])
    expect(await pawl("run", "start", ...wrong, "--sample")).toBe(2);
  expect(printed.error).toContain("has no sample input");
  expect(await pawl("run", "start", "order", "--sample", "--input", "{}")).toBe(2);
  expect(inputs).toHaveLength(3);
});

test("--version before the noun is the command's own", async () => {
  const { gateway, printed, pawl } = await setup({});
  await using _ = gateway;
  expect(await pawl("--version")).toBe(0);
  expect(printed.out).toBe("1.2.3\n");
});
