import { create } from "@bufbuild/protobuf";
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

test("every attempt is measured by type and outcome, with traces or without", async () => {
  const { telemetry, run, assignment, hooks } = await setup(failed("rate_limit", "later"));
  for (const isTracing of [false, true]) {
    const { result } = await observed(run, { isTracing })(assignment, hooks);
    expect(result.case).toBe("failed");
  }
  const text = await telemetry.metricsText();
  expect(text).toMatch(/pawl_handler_duration_seconds_count\{[^}]*type="http"[^}]*\} 2/);
  expect(text).toContain('outcome="rate_limit"');
});
