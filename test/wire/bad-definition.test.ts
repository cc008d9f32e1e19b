// Definitions that break rules. Every client gets the rule and the place, from the calls that save, the call that runs and the call that
// only checks; nothing is kept (rows D and T of the catalogue of bad inputs).
import { LIMITS } from "@pawl/core/data/limits";
import { expect, test } from "vitest";
import { BAD_GRAPHS } from "./bad-graphs.ts";
import { BAD_PARTS } from "./bad-parts.ts";
import { BAD_STATE } from "./bad-state.ts";
import { BAD_TEXTS } from "./bad-texts.ts";
import { KNOWN, saveKnown } from "./known-workflow.ts";
import { expectDiscreet, expectRefused, invalidField, type Refusal } from "./refusal.ts";
import { useStage } from "./stage.ts";

const BAD_DEFINITIONS = [...BAD_GRAPHS, ...BAD_PARTS, ...BAD_STATE, ...BAD_TEXTS];
const HELD = "definition-held";
const start = { id: "start", type: "start" };

const stage = useStage(undefined, saveKnown);

test.each(BAD_DEFINITIONS)("$row: $what is refused as $rule, by every client", async (bad) => {
  const definition = { text: bad.text };
  const reason = bad.reason ?? "DEFINITION_INVALID";
  const refusal: Refusal = {
    code: reason === "LIMIT_EXCEEDED" ? "ResourceExhausted" : "InvalidArgument",
    reason,
    field: [bad.path === "" ? "definition" : `definition.${bad.path}`, bad.rule],
  };
  await stage().unharmed(async () => {
    for (const { workflows, runs } of stage().doors) {
      const created = workflows.createWorkflow({ workflowId: "bad", definition });
      await expectRefused(created, refusal, bad.text);
      const updated = workflows.updateWorkflow({ workflowId: KNOWN, definition });
      await expectRefused(updated, refusal, bad.text);
      await expectRefused(runs.testRun({ definition }), refusal, bad.text);
      const { violations, definitionJson } = await workflows.validateWorkflow({ definition });
      expect(definitionJson).toHaveLength(0);
      expect(violations.map(({ path, reason: rule }) => [path, rule])).toContainEqual([
        bad.path,
        bad.rule,
      ]);
      for (const { message, path, nodeId } of violations)
        for (const text of [message, path, nodeId]) expectDiscreet(text, bad.text);
    }
  });
});

test("D1: the error of a cycle names its nodes in order", async () => {
  const bad = BAD_DEFINITIONS.find(({ row }) => row === "D1");
  const { workflows } = stage().door("Connect JSON");
  const { violations } = await workflows.validateWorkflow({
    definition: { text: bad?.text ?? "" },
  });
  expect(violations.map(({ message }) => message)).toEqual([
    "write loop: true on the edge that leads back; the nodes form a cycle: a -> b -> a",
  ]);
});

test("D18: a missing key is called required, in words for people", async () => {
  for (const bad of BAD_DEFINITIONS.filter(({ rule }) => rule === "REQUIRED")) {
    const definition = { text: bad.text };
    const { violations } = await stage().door("gRPC").workflows.validateWorkflow({ definition });
    expect(violations).toMatchObject([{ path: bad.path, message: "is required", nodeId: "a" }]);
  }
});

test("D19: a definition of one byte too many is LIMIT_EXCEEDED before it is read", async () => {
  const definition = { text: "x".repeat(LIMITS.definitionBytes + 1) };
  const refusal: Refusal = { code: "ResourceExhausted", reason: "LIMIT_EXCEEDED" };
  await stage().unharmed(async () => {
    for (const { workflows, runs } of stage().doors) {
      await expectRefused(workflows.createWorkflow({ definition }), refusal, definition.text);
      await expectRefused(workflows.validateWorkflow({ definition }), refusal, definition.text);
      await expectRefused(runs.testRun({ definition }), refusal, definition.text);
    }
  });
});

test("D19: no definition, an empty one and one without a name are refused by name", async () => {
  const text = JSON.stringify({ nodes: [start] });
  await stage().unharmed(async () => {
    for (const { workflows, runs } of stage().doors) {
      const empty = invalidField("definition.text", "REQUIRED");
      await expectRefused(workflows.createWorkflow({ workflowId: "x" }), empty);
      await expectRefused(workflows.createWorkflow({ definition: { text: "" } }), empty);
      await expectRefused(runs.testRun({}), empty);
      await expectRefused(workflows.validateWorkflow({}), empty);
      const unnamed = workflows.createWorkflow({ definition: { text } });
      await expectRefused(unnamed, invalidField("workflow_id", "MISSING"));
    }
  });
});

test("D20: a chain as long as a definition may be is checked without a stack overflow", async () => {
  const ids = Array.from({ length: LIMITS.definitionNodes - 1 }, (_, index) => `n${index}`);
  const nodes = [start, ...ids.map((id) => ({ id, type: "noop" }))];
  const edges = nodes.slice(1).map(({ id }, index) => ({ source: nodes[index]?.id, target: id }));
  const definition = { text: JSON.stringify({ nodes, edges }) };
  const { workflows } = stage().door("gRPC");
  await stage().unharmed(async () => {
    expect((await workflows.validateWorkflow({ definition })).violations).toEqual([]);
  });
  const { workflow } = await workflows.createWorkflow({ workflowId: "chain", definition });
  expect(workflow?.nodeCount).toBe(LIMITS.definitionNodes);
});

test("D22: a workflow with a live run is not deleted unless forced, by any client", async () => {
  const { workflows, runs } = stage().door("grpc-js");
  const nodes = [
    start,
    { id: "wait", type: "delay", config: { delay_ms: 3_600_000 } },
    { id: "end", type: "end" },
  ];
  const edges = [
    { source: "start", target: "wait" },
    { source: "wait", target: "end" },
  ];
  const definition = { text: JSON.stringify({ nodes, edges }) };
  await workflows.createWorkflow({ workflowId: HELD, definition });
  const { run } = await runs.startRun({ workflowId: HELD });
  for (const door of stage().doors)
    await expectRefused(door.workflows.deleteWorkflow({ workflowId: HELD }), {
      code: "FailedPrecondition",
      reason: "HAS_LIVE_RUNS",
    });
  await runs.cancelRun({ runId: run?.runId ?? "" });
  await workflows.deleteWorkflow({ workflowId: HELD });
  await expectRefused(workflows.getWorkflow({ workflowId: HELD }), {
    code: "NotFound",
    reason: "WORKFLOW_NOT_FOUND",
  });
});

test("one id is created once; a second time is WORKFLOW_EXISTS for every client", async () => {
  const definition = { text: JSON.stringify({ nodes: [start] }) };
  await stage().unharmed(async () => {
    for (const { workflows } of stage().doors)
      await expectRefused(workflows.createWorkflow({ workflowId: KNOWN, definition }), {
        code: "AlreadyExists",
        reason: "WORKFLOW_EXISTS",
      });
  });
});
