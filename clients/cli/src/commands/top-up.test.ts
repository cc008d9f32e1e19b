import { OnExceeded, RunStatus } from "@pawl/proto/pawl/v1/run_pb";
import type { TopUpRunRequest } from "@pawl/proto/pawl/v1/run_service_pb";
import { expect, test } from "vitest";
import { setup } from "./scripted-host.fixture.ts";

const RUN = "0199a000-0000-7000-8000-000000000001";

test("a budget is raised by tokens and dollars, with who and why (S2.21, S2.23)", async () => {
  const asked: TopUpRunRequest[] = [];
  const { gateway, printed, pawl } = await setup({
    runs: {
      topUpRun(request) {
        asked.push(request);
        return { run: { runId: request.runId, status: RunStatus.RUNNING } };
      },
    },
  });
  await using _ = gateway;
  const flags = ["--tokens", "500", "--cost-usd", "0.25", "--by", "ada", "--request-id", "q1"];
  expect(await pawl("run", "top-up", RUN, ...flags)).toBe(0);
  expect(asked).toMatchObject([
    { runId: RUN, by: "ada", requestId: "q1", amounts: { tokens: 500n, costMicros: 250_000n } },
  ]);
  expect(printed.out).toContain(`${RUN} running`);
});

test.each([
  [],
  ["--tokens", "-1"],
  ["--tokens", "0"],
  ["--tokens", "NaN"],
  ["--cost-usd", "1e400"],
  ["--cost-usd", "a lot"],
])("a raise by %j is refused before any call (S2.21)", async (...flags) => {
  const { gateway, pawl } = await setup({ runs: {} });
  await using _ = gateway;
  expect(await pawl("run", "top-up", RUN, ...flags)).toBe(2);
});

test("a run shows what it used, and its budget (S2.20, S2.22)", async () => {
  const usage = { inputTokens: 3n, outputTokens: 4n, costMicros: 20_000n, nodeExecutions: 2n };
  const budget = { tokens: 10n, costMicros: 250_000n, onExceeded: OnExceeded.PAUSE };
  const { gateway, printed, pawl } = await setup({
    runs: { getRun: () => ({ run: { runId: RUN, usage, budget } }) },
  });
  await using _ = gateway;
  expect(await pawl("run", "get", RUN)).toBe(0);
  expect(printed.out).toContain("7 tokens, $0.02, 2 node executions");
  expect(printed.out).toContain("10 tokens, $0.25, then pause");
});

test("daily budgets are listed by workflow and day within 80 columns, with what is used, reserved and left (S2.21)", async () => {
  const workflowId = "answer-the-mail-of-customers";
  const day = {
    ...{ workflowId, day: "2026-01-31", resetTime: { seconds: 1_769_904_000n } },
    limit: { costMicros: 9_000_000n },
    reserved: { costMicros: 200_000n },
    used: { costMicros: 1_500_000n, nodeExecutions: 12_000n },
  };
  const { gateway, printed, pawl } = await setup(
    {
      workflows: {
        listDailyBudgets: ({ workflowId: asked }) => ({
          dailyBudgets: asked === "none" ? [] : [day],
        }),
      },
    },
    { columns: 80 },
  );
  await using _ = gateway;
  expect(await pawl("budget")).toBe(0);
  expect(printed.out).toMatch(/2026-01-31 +money +[$]1\.50 +[$]0\.20 +[$]9\.00/);
  expect(printed.out).toMatch(/2026-01-31 +node executions +12000 +0 +-/);
  expect(Math.max(...printed.out.split("\n").map((line) => line.length))).toBeLessThanOrEqual(80);
  expect(printed.error).toContain("resets at 2026-02-01T00:00:00.000Z");
  printed.out = "";
  expect(await pawl("budget", workflowId, "-o", "json")).toBe(0);
  expect(JSON.parse(printed.out)).toMatchObject({
    dailyBudgets: [{ workflowId, day: "2026-01-31", limit: { costMicros: 9_000_000 } }],
  });
  expect(await pawl("budget", "none")).toBe(0);
  expect(printed.out).toContain("none has no daily budget");
});
