import { expect, test } from "vitest";
import { ChildRun } from "./handler.ts";
import { probeHandler } from "./handler-probe.fixture.ts";
import { subworkflowHandler } from "./subworkflow.ts";

test("a subworkflow asks for a run with its input, or with its own parameters", async () => {
  const named = { workflow_id: "other", version: 3, input: { a: 1 } };
  expect((await probeHandler(subworkflowHandler, named)).result).toEqual(
    new ChildRun({ workflowId: "other", version: 3, input: { a: 1 } }),
  );
  const bare = await probeHandler(
    subworkflowHandler,
    { workflow_id: "other" },
    { params: { p: 2 } },
  );
  expect(bare.result).toEqual(new ChildRun({ workflowId: "other", version: 0, input: { p: 2 } }));
});
