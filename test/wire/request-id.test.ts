// Commands that are sent twice: by a caller that did not get the answer, or by the gateway, which repeats a command when its scheduler goes
// away. A request id makes both harmless; a caller that gives none gets one from the gateway (C13).
import { randomUUID } from "node:crypto";
import { createClient } from "@connectrpc/connect";
import { createConnectTransport } from "@connectrpc/connect-node";
import { EngineError } from "@pawl/core/fault/engine-error";
import { startGateway } from "@pawl/gateway/gateway.fixture";
import { RunService } from "@pawl/proto/pawl/v1/run_service_pb";
import { WorkflowService } from "@pawl/proto/pawl/v1/workflow_service_pb";
import { expect, test } from "vitest";
import { drain, GRAPH, KNOWN, saveKnown } from "./known-workflow.ts";
import { expectRefused, invalidField, type Refusal } from "./refusal.ts";
import { useStage } from "./stage.ts";

const OTHER = '{"nodes":[{"id":"begin","type":"start"}]}';
const REUSED: Refusal = { code: "AlreadyExists", reason: "REQUEST_ID_REUSED" };

const stage = useStage(undefined, saveKnown);

/** Waits for the end of a run, so that nothing is written by itself any more. */
const ended = (runId: string): Promise<void> =>
  drain(stage().door("grpc-js").events.watchRun({ runId }));

test("C13: one request id starts one run, whichever client repeats it; with another body it is refused", async () => {
  const requestId = randomUUID();
  const inputJson = Buffer.from('{"n":1}');
  const first = await stage()
    .door("grpc-js")
    .runs.startRun({ workflowId: KNOWN, requestId, inputJson });
  expect(first.duplicate).toBe(false);
  const runId = first.run?.runId ?? "";
  await ended(runId);
  await stage().unharmed(async () => {
    for (const { runs } of stage().doors) {
      const again = await runs.startRun({ workflowId: KNOWN, requestId, inputJson });
      expect([again.duplicate, again.run?.runId]).toEqual([true, runId]);
      const executed = runs.executeRun({ start: { workflowId: KNOWN, requestId, inputJson } });
      for await (const { run, duplicate } of executed) {
        expect([duplicate, run?.runId]).toEqual([true, runId]);
        break;
      }
      const other = Buffer.from('{"n":2}');
      const call = runs.startRun({ workflowId: KNOWN, requestId, inputJson: other });
      await expectRefused(call, REUSED);
      const urgent = runs.startRun({ workflowId: KNOWN, requestId, inputJson, priority: -1 });
      await expectRefused(urgent, REUSED);
      const graph = { definition: { text: GRAPH }, requestId, inputJson };
      await expectRefused(runs.testRun(graph), REUSED);
    }
  });
});

test("C13: one request id runs one graph; a repeat leaves nothing behind", async () => {
  const requestId = randomUUID();
  const { runs } = stage().door("Connect");
  const definition = { text: GRAPH };
  const first = await runs.testRun({ definition, requestId });
  const runId = first.run?.runId ?? "";
  await ended(runId);
  await stage().unharmed(async () => {
    for (const door of stage().doors) {
      const again = await door.runs.testRun({ definition, requestId });
      expect([again.duplicate, again.run?.runId]).toEqual([true, runId]);
      const other = door.runs.testRun({ definition: { text: OTHER }, requestId });
      await expectRefused(other, REUSED);
    }
  });
});

test("C13: one request id saves one version; with another body it is refused", async () => {
  const [created, updated] = [randomUUID(), randomUUID()];
  const { workflows } = stage().door("gRPC-web");
  const workflowId = "saved";
  const create = { workflowId, definition: { text: GRAPH }, requestId: created };
  const update = { workflowId, definition: { text: OTHER }, requestId: updated };
  expect((await workflows.createWorkflow(create)).workflow?.version).toBe(1);
  expect((await workflows.updateWorkflow(update)).workflow?.version).toBe(2);
  await stage().unharmed(async () => {
    for (const door of stage().doors) {
      expect((await door.workflows.createWorkflow(create)).workflow?.version).toBe(1);
      expect((await door.workflows.updateWorkflow(update)).workflow?.version).toBe(2);
      const definition = { text: OTHER };
      await expectRefused(door.workflows.createWorkflow({ ...create, definition }), REUSED);
      await expectRefused(
        door.workflows.updateWorkflow({ ...update, definition: { text: GRAPH } }),
        REUSED,
      );
    }
  });
});

test.each([
  ["256 characters", "x".repeat(256)],
  ["two lines", "a\nb"],
  ["a NUL character", "a\0b"],
  ["an escape", "\u001b[2J"],
  ["two words", "nightly run"],
  ["letters beyond ASCII", "añb"],
])("C13: a request id of %s is refused by every command of every client", async (_, requestId) => {
  const definition = { text: GRAPH };
  const runId = randomUUID();
  await stage().unharmed(async () => {
    for (const { runs, workflows } of stage().doors) {
      for (const call of [
        () => runs.startRun({ workflowId: KNOWN, requestId }),
        () => runs.testRun({ definition, requestId }),
        () => runs.cancelRun({ runId, requestId }),
        () => runs.deleteRun({ runId, requestId }),
        () => workflows.createWorkflow({ workflowId: "x", definition, requestId }),
        () => workflows.updateWorkflow({ workflowId: KNOWN, definition, requestId }),
        () => workflows.deleteWorkflow({ workflowId: KNOWN, requestId }),
      ])
        await expectRefused(call(), invalidField("request_id", "BAD_ID"), requestId);
      const executed = drain(runs.executeRun({ start: { workflowId: KNOWN, requestId } }));
      await expectRefused(executed, invalidField("start.request_id", "BAD_ID"), requestId);
    }
  });
});

test("a caller that gives no request id gets one from the gateway, a new one each time", async () => {
  for (const { runs } of stage().doors) {
    const started = await Promise.all([
      runs.startRun({ workflowId: KNOWN }),
      runs.startRun({ workflowId: KNOWN }),
    ]);
    const ids = started.map(({ run }) => run?.runId ?? "");
    const { rows } = await stage().db.query<{ request_id: string | null }>(
      "select distinct request_id from pawl.runs where run_id = any ($1) and request_id is not null",
      [ids],
    );
    expect(rows).toHaveLength(2);
  }
});

test("a command that the gateway sends again has the request id it had before", async () => {
  const seen: Record<string, string[]> = {};
  // Every command fails once as it does under a scheduler that stops, and is taken the second time.
  const flaky =
    (name: string) =>
    async ({ requestId }: { readonly requestId: string }): Promise<Record<string, never>> => {
      const ids = (seen[name] ??= []);
      ids.push(requestId);
      if (ids.length === 1) throw new EngineError("DRAINING", "stopping", { retryAfterMs: 1 });
      return {};
    };
  const gateway = await startGateway({
    runs: {
      startRun: flaky("startRun"),
      testRun: flaky("testRun"),
      cancelRun: flaky("cancelRun"),
      deleteRun: flaky("deleteRun"),
    },
    workflows: {
      createWorkflow: flaky("createWorkflow"),
      updateWorkflow: flaky("updateWorkflow"),
      deleteWorkflow: flaky("deleteWorkflow"),
    },
  });
  const transport = createConnectTransport({ baseUrl: gateway.url, httpVersion: "2" });
  const runs = createClient(RunService, transport);
  const workflows = createClient(WorkflowService, transport);
  const definition = { text: GRAPH };
  const runId = randomUUID();
  await runs.startRun({ workflowId: KNOWN });
  await runs.testRun({ definition });
  await runs.cancelRun({ runId });
  await runs.deleteRun({ runId });
  await workflows.createWorkflow({ workflowId: KNOWN, definition });
  await workflows.updateWorkflow({ workflowId: KNOWN, definition });
  await workflows.deleteWorkflow({ workflowId: KNOWN });
  const all = Object.values(seen);
  expect(all).toHaveLength(7);
  for (const [first, second, ...more] of all) {
    expect(first).toMatch(/^[0-9a-f-]{36}$/);
    expect([second, more]).toEqual([first, []]);
  }
  expect(new Set(all.flat()).size).toBe(7);
});
