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

test("start and test say when a run starts, how long it may take, and that it is temporary (S4.4, S4.9, S4.10)", async () => {
  const asked: unknown[] = [];
  interface Asked {
    readonly afterSeconds?: number | undefined;
    readonly startAt?: { readonly seconds: bigint } | undefined;
    readonly temporary: boolean;
    readonly deadline?: { readonly seconds: bigint } | undefined;
  }
  const answer = ({ afterSeconds, startAt, temporary, deadline }: Asked) => {
    asked.push([afterSeconds, startAt?.seconds, temporary, deadline?.seconds]);
    return { run: { runId: RUN } };
  };
  const { gateway, printed, pawl } = await setup({ runs: { startRun: answer, testRun: answer } });
  await using _ = gateway;
  const later = ["--after", "10m", "--deadline", "2h"];
  expect(await pawl("run", "start", "hello", ...later)).toBe(0);
  expect(await pawl("run", "start", "hello", "--at", "2026-12-01T06:00:00Z")).toBe(0);
  expect(await pawl("run", "test", "-f", "x.yaml", "--temporary", ...later)).toBe(0);
  expect(asked).toEqual([
    [600, undefined, false, 7_200n],
    [undefined, 1_796_104_800n, false, undefined],
    [600, undefined, true, 7_200n],
  ]);
  for (const wrong of ["2026-12-01", "tomorrow", "2026-13-01T06:00:00Z"]) {
    expect(await pawl("run", "start", "hello", "--at", wrong)).toBe(2);
    expect(printed.error).toContain(`--at ${wrong}: write it as 2026-10-01T09:00:00Z`);
  }
  expect(await pawl("run", "start", "hello", "--after", "soon")).toBe(2);
  expect(asked).toHaveLength(3);
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
