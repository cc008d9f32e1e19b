// Malformed ids and names, and ids of things that do not exist or must not be changed, through every client and through SSE (rows C of the
// catalogue of bad inputs).
import { randomUUID } from "node:crypto";
import { ResourceInfoSchema } from "@pawl/proto/google/rpc/error_details_pb";
import { expect, test } from "vitest";
import { drain, finishedRun, GRAPH, KNOWN, saveKnown } from "./known-workflow.ts";
import {
  expectRefusal,
  expectRefused,
  failure,
  invalidField,
  type Refusal,
  sseRefusal,
} from "./refusal.ts";
import { useStage } from "./stage.ts";

const stage = useStage(undefined, saveKnown);

/** A number the wire takes for any enum. */
const NO_ENUM = 99 as never;
const UNKNOWN_RUN: Refusal = { code: "NotFound", reason: "RUN_NOT_FOUND" };

const NOT_IDS = [
  "",
  "run",
  "0".repeat(36),
  `{${randomUUID()}}`,
  randomUUID().replaceAll("-", ""),
  `${randomUUID()}\0`,
  `urn:uuid:${randomUUID()}`,
  "'; drop table pawl.runs; --",
  "x".repeat(10_000),
];

test.each(NOT_IDS)(
  "C1, C2: a run id of %j is refused by every call of every client",
  async (runId) => {
    const refusal = invalidField("run_id", "BAD_ID");
    await stage().unharmed(async () => {
      for (const { runs, events } of stage().doors) {
        await expectRefused(runs.getRun({ runId }), refusal, runId);
        await expectRefused(runs.waitRun({ runId }), refusal, runId);
        await expectRefused(runs.cancelRun({ runId }), refusal, runId);
        await expectRefused(runs.deleteRun({ runId }), refusal, runId);
        await expectRefused(events.listEvents({ runId }), refusal, runId);
        await expectRefused(drain(events.watchRun({ runId })), refusal, runId);
      }
      if (runId === "") return;
      const error = await sseRefusal(stage().url, `${encodeURIComponent(runId)}/events`);
      expectRefusal(error, refusal, runId);
    });
  },
);

test("C2: a run id in upper case is the same run to every client", async () => {
  const { runId, length } = await finishedRun(stage());
  const upper = runId.toUpperCase();
  for (const { runs, events } of stage().doors) {
    expect((await runs.getRun({ runId: upper })).run?.runId).toBe(runId);
    const page = await events.listEvents({ runId: upper });
    expect(page.events.map((event) => event.runId)).toEqual(Array(length).fill(runId));
  }
  const response = await fetch(`${stage().url}/execute/workflows/${upper}/events`);
  expect(await response.text()).toContain(`"runId":"${runId}"`);
});

test("C3: a run that is not there is RUN_NOT_FOUND to every call of every client", async () => {
  const runId = randomUUID();
  await stage().unharmed(async () => {
    for (const { runs, events } of stage().doors) {
      await expectRefused(runs.getRun({ runId }), UNKNOWN_RUN);
      await expectRefused(runs.cancelRun({ runId }), UNKNOWN_RUN);
      await expectRefused(runs.deleteRun({ runId }), UNKNOWN_RUN);
      await expectRefused(events.listEvents({ runId }), UNKNOWN_RUN);
      await expectRefused(drain(events.watchRun({ runId })), UNKNOWN_RUN);
    }
    expectRefusal(await sseRefusal(stage().url, `${runId}/events`), UNKNOWN_RUN);
  });
});

test("C3: an approval that is not there is APPROVAL_NOT_FOUND, and ResourceInfo names the approval", async () => {
  const approvalId = randomUUID();
  const resource = { resourceType: "pawl.v1.approval", resourceName: approvalId };
  await stage().unharmed(async () => {
    for (const { approvals } of stage().doors)
      for (const call of [
        () => approvals.getApproval({ approvalId }),
        () => approvals.approveApproval({ approvalId }),
        () => approvals.rejectApproval({ approvalId }),
      ]) {
        const error = await failure(call());
        expectRefusal(error, { code: "NotFound", reason: "APPROVAL_NOT_FOUND" });
        expect(error.findDetails(ResourceInfoSchema)).toMatchObject([resource]);
      }
  });
});

test("C9: invalid names, statuses and kinds are refused by name", async () => {
  await stage().unharmed(async () => {
    for (const { name, workflows, runs, events } of stage().doors) {
      for (const workflowId of ["../x", "a b", "é", "_x", ".x", "a\0", "x".repeat(129)]) {
        const refusal = invalidField("workflow_id", "BAD_ID");
        await expectRefused(workflows.getWorkflow({ workflowId }), refusal, workflowId);
        await expectRefused(workflows.deleteWorkflow({ workflowId }), refusal, workflowId);
        await expectRefused(runs.startRun({ workflowId }), refusal, workflowId);
        const executing = drain(runs.executeRun({ start: { workflowId } }));
        await expectRefused(executing, invalidField("start.workflow_id", "BAD_ID"), workflowId);
        await expectRefused(runs.listRuns({ workflowId }), refusal, workflowId);
        const definition = { text: GRAPH };
        await expectRefused(workflows.createWorkflow({ workflowId, definition }), refusal);
        await expectRefused(workflows.updateWorkflow({ workflowId, definition }), refusal);
      }
      const tooLong = runs.listRuns({ query: "x".repeat(201) });
      await expectRefused(tooLong, invalidField("query", "TOO_LONG"));
      const unprintable = runs.listRuns({ query: "a\0" });
      await expectRefused(unprintable, invalidField("query", "NOT_PRINTABLE"));
      expect((await runs.listRuns({ query: "no such thing" })).runs).toEqual([]);
      const types = Array<string>(65).fill("x");
      const watching = drain(events.watchRun({ runId: randomUUID(), types }));
      await expectRefused(watching, invalidField("types", "TOO_MANY"));
      const executing = drain(runs.executeRun({ start: { workflowId: KNOWN }, types }));
      await expectRefused(executing, invalidField("types", "TOO_MANY"));
      // JSON has no word for a number outside of an enum.
      if (name === "Connect JSON") continue;
      await expectRefused(runs.listRuns({ kind: NO_ENUM }), invalidField("kind", "UNKNOWN_ENUM"));
      const unknown = runs.listRuns({ statuses: [8, NO_ENUM] });
      await expectRefused(unknown, invalidField("statuses[1]", "UNKNOWN_ENUM"));
    }
  });
});

test("C17: a finished run is not cancelled, and a saved one is not deleted", async () => {
  const { runId } = await finishedRun(stage());
  await stage().unharmed(async () => {
    for (const { runs } of stage().doors) {
      await expectRefused(runs.cancelRun({ runId }), {
        code: "FailedPrecondition",
        reason: "RUN_ALREADY_FINISHED",
      });
      await expectRefused(runs.deleteRun({ runId }), {
        code: "FailedPrecondition",
        reason: "RUN_NOT_DELETABLE",
      });
      for (const reason of ["x".repeat(201), "two\nlines", "a\0b"])
        await expectRefused(
          runs.cancelRun({ runId, reason }),
          invalidField("reason", reason.length > 200 ? "TOO_LONG" : "NOT_PRINTABLE"),
          reason,
        );
    }
  });
});

test("C9, C17: an invalid or unknown name is not paused, and neither `by` nor `reason` may be more than a line", async () => {
  const noWorkflow: Refusal = { code: "NotFound", reason: "WORKFLOW_NOT_FOUND" };
  const noType: Refusal = { code: "NotFound", reason: "NODE_TYPE_NOT_FOUND" };
  await stage().unharmed(async () => {
    for (const { workflows, queues } of stage().doors) {
      for (const name of ["", "../x", "_pending_run", "a\0", "x".repeat(129)]) {
        const badWorkflow = invalidField("workflow_id", "BAD_ID");
        await expectRefused(workflows.pauseWorkflow({ workflowId: name }), badWorkflow, name);
        await expectRefused(workflows.resumeWorkflow({ workflowId: name }), badWorkflow, name);
        const badType = invalidField("node_type", "BAD_ID");
        await expectRefused(queues.pauseQueue({ nodeType: name }), badType, name);
        await expectRefused(queues.resumeQueue({ nodeType: name }), badType, name);
      }
      await expectRefused(workflows.pauseWorkflow({ workflowId: "nowhere" }), noWorkflow);
      await expectRefused(workflows.resumeWorkflow({ workflowId: "nowhere" }), noWorkflow);
      await expectRefused(queues.pauseQueue({ nodeType: "rocket" }), noType);
      await expectRefused(queues.resumeQueue({ nodeType: "rocket" }), noType);
      const reason = "x".repeat(201);
      const tooLong = invalidField("reason", "TOO_LONG");
      await expectRefused(queues.pauseQueue({ nodeType: "http", reason }), tooLong, reason);
      const by = "two\nlines";
      const unprintable = invalidField("by", "NOT_PRINTABLE");
      await expectRefused(queues.pauseQueue({ nodeType: "http", by }), unprintable);
      expect((await queues.listPauses({})).pauses).toEqual([]);
    }
  });
});
