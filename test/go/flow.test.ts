// The Go caller on the real trio: apply, start, run, watch across a cut, wait, cancel, approvals and typed errors; schedules, pauses, many
// starts and executions. The assertions are in clients/go/pawl/flow_test.go and operate_flow_test.go.
import { join } from "node:path";
import { expect, test } from "vitest";
import { startCluster } from "../support/cluster.ts";
import { goOrSkip } from "../support/go.ts";
import { ROOT } from "../tidy/sources.ts";

test("a Go program applies, runs, watches across a cut, answers, cancels, schedules, pauses and gets typed errors", async (context) => {
  const go = goOrSkip(context);
  await using cluster = await startCluster();
  const args = ["test", "-count=1", "-v", "-run", "^(TestFlow|TestOperateFlow)$", "./pawl"];
  const output = await go(join(ROOT, "clients", "go"), args, {
    PAWL_TEST_GATEWAY: new URL(cluster.url).host,
  });
  expect(output).toContain("--- PASS: TestFlow");
  expect(output).toContain("--- PASS: TestOperateFlow");
  expect(output).not.toContain("SKIP");
}, 180_000);
