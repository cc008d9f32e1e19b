import { expect, test } from "vitest";
import { graphOf, startToyRun } from "../../test/toy-run.ts";
import { runId } from "../name/ids.ts";
import type { Outcome } from "./result.ts";

test("a handoff to a workflow counts as a repetition, and a subworkflow does not (S2.9, S2.10)", () => {
  const child = (isHandoff: boolean): Outcome => ({
    ...{ kind: "child_run", childRunId: runId("0199a000-0000-7000-8000-0000000000c1"), isHandoff },
    ...{ workflowId: "w", version: 0, inputJson: "null", durationMs: 1 },
  });
  const nodes = [
    { id: "start", type: "start" },
    { id: "sub", type: "subworkflow", config: { workflow_id: "w" } },
    ...["a", "b"].map((id) => ({ id, type: "task" })),
  ];
  const edges = ["sub", "a", "b"].map((target) => ({ source: "start", target }));
  const run = startToyRun(graphOf({ max_iterations: 1, nodes, edges }));
  run.complete("start");
  for (const id of ["sub", "a", "b"]) run.claim(id);
  run.report("sub", child(false));
  expect(run.state.iterationCount).toBe(0);
  run.report("a", child(true));
  expect(run.state).toMatchObject({ status: "running", iterationCount: 1 });
  run.report("b", child(true));
  expect(run.state).toMatchObject({ status: "failed", iterationCount: 2 });
  const message = "node b repeats too often: the run may repeat once";
  expect(run.events.find(({ type }) => type === "run.failed")?.payload).toMatchObject({
    failedNodeId: "b",
    cause: "max_iterations",
    message,
  });
  expect([run.node("a").status, run.node("b").status]).toEqual(["cancelled", "cancelled"]);
});
