import { create } from "@bufbuild/protobuf";
import { createLogger } from "@pawl/platform/telemetry/log";
import { startTelemetry } from "@pawl/platform/telemetry/start";
import { AssignmentSchema } from "@pawl/proto/pawl/worker/v1/worker_service_pb";
import { expect, onTestFinished, test } from "vitest";
import { observed } from "./observed.ts";
import { failed, type WireResult } from "./outcome.ts";
import { memoryLedger } from "../work/memory-ledger.fixture.ts";

async function setup(result: WireResult) {
  const telemetry = await startTelemetry({ serviceName: "test", env: {} });
  onTestFinished(() => telemetry.shutdown());
  const run = async () => ({ result, durationMs: 1n });
  const assignment = create(AssignmentSchema, { nodeType: "http", claim: { epoch: 1n } });
  const hooks = {
    signal: new AbortController().signal,
    emit: async () => undefined,
    emitMedia: async () => undefined,
    effects: memoryLedger(),
    extend: async () => undefined,
    log: () => undefined,
  };
  return { telemetry, run, assignment, hooks };
}

const logTo = (lines: string[], level = "info") =>
  createLogger({
    service: "test",
    level,
    destination: { write: (line) => void lines.push(line) },
  });

test("every attempt is measured by type and outcome, with traces or without", async () => {
  const { telemetry, run, assignment, hooks } = await setup(failed("rate_limit", "later"));
  for (const isTracing of [false, true]) {
    const { result } = await observed(run, { isTracing, log: logTo([]) })(assignment, hooks);
    expect(result.case).toBe("failed");
  }
  const text = await telemetry.metricsText();
  expect(text).toMatch(/pawl_handler_duration_seconds_count\{[^}]*type="http"[^}]*\} 2/);
  expect(text).toContain('outcome="rate_limit"');
});

test("an attempt leaves one line in the log, with its run, workflow, thread, assistant, node, attempt and time (S4.7)", async () => {
  const { run, hooks } = await setup(failed("rate_limit", "later"));
  const assignment = create(AssignmentSchema, {
    claim: { runId: "r", nodeId: "n", iteration: 2, epoch: 7n },
    workflowId: "greet",
    ...{ threadId: "talk", assistantId: "aide", attempt: 3 },
  });
  const lines: string[] = [];
  await observed(run, { isTracing: false, log: logTo(lines) })(assignment, hooks);
  expect(lines.map((line): unknown => JSON.parse(line))).toMatchObject([
    {
      ...{ level: "info", msg: "attempt ended", run_id: "r", node_id: "n", workflow_id: "greet" },
      ...{ thread_id: "talk", assistant_id: "aide" },
      ...{ iteration: 2, attempt: 3, epoch: 7, outcome: "rate_limit" },
      ...{ task: "run-r-n#2-attempt-3", failure_class: "retriable" },
      duration_ms: expect.any(Number),
    },
  ]);
});

test("an attempt that completed is in the log at debug only", async () => {
  const { run, assignment, hooks } = await setup({ case: "completed", value: {} });
  for (const [level, count] of [
    ["info", 0],
    ["debug", 1],
  ] as const) {
    const lines: string[] = [];
    await observed(run, { isTracing: false, log: logTo(lines, level) })(assignment, hooks);
    expect(lines).toHaveLength(count);
  }
});
