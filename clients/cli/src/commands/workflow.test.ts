import { Code } from "@connectrpc/connect";
import { jsonTextBytes } from "@pawl/client";
import { scriptedFailure } from "@pawl/client/scripted-gateway";
import { BadRequestSchema } from "@pawl/proto/google/rpc/error_details_pb";
import { expect, test } from "vitest";
import { setup } from "./scripted-host.fixture.ts";

test("validate lists every broken rule at its line, with the node by its id, and exits 1", async () => {
  const { gateway, printed, pawl } = await setup({
    workflows: {
      validateWorkflow: () => ({
        violations: [
          {
            path: "edges[0].target",
            reason: "DANGLING_EDGE",
            message: "no node b",
            line: 9,
            column: 3,
          },
          {
            path: "nodes[1].config.code",
            reason: "JS_SYNTAX",
            message: "oops",
            nodeId: "price",
            line: 12,
            column: 5,
          },
          {
            path: "nodes[2]",
            reason: "MADE_UP",
            message: "is wrong",
            nodeId: "b",
            line: 14,
            column: 1,
          },
          { path: "nodes", reason: "OF_OLD", message: "an older server has no lines" },
        ],
      }),
    },
  });
  await using _ = gateway;
  expect(await pawl("workflow", "validate", "-f", "x.yaml")).toBe(1);
  expect(printed.out).toBe(
    [
      "x.yaml breaks 4 rules:",
      "x.yaml:9:3: edges[0].target: no node b [DANGLING_EDGE]",
      'x.yaml:12:5 node "price": config.code: oops [JS_SYNTAX]',
      'x.yaml:14:1 node "b": is wrong [MADE_UP]',
      "x.yaml: nodes: an older server has no lines [OF_OLD]",
      "",
    ].join("\n"),
  );
});

test("apply prints the version, and lists the broken rules when it is refused", async () => {
  const refusal = scriptedFailure(Code.InvalidArgument, "DEFINITION_INVALID", "1 rule is broken", [
    {
      desc: BadRequestSchema,
      value: { fieldViolations: [{ field: "nodes", reason: "EMPTY", description: "no nodes" }] },
    },
  ]);
  const files = { "good.yaml": "id: hello", "bad.yaml": "id: other" };
  const { gateway, printed, pawl } = await setup(
    {
      workflows: {
        validateWorkflow: () => ({ definitionJson: jsonTextBytes('{"id":"hello"}') }),
        getWorkflow: () => ({ workflow: { workflowId: "hello", version: 1 } }),
        updateWorkflow({ definition }) {
          if (definition?.text === files["bad.yaml"]) throw refusal;
          return { workflow: { workflowId: "hello", version: 2 } };
        },
      },
    },
    { files },
  );
  await using _ = gateway;
  expect(await pawl("workflow", "apply", "-f", "good.yaml")).toBe(0);
  expect(printed.out).toContain("hello version 2 updated");
  expect(await pawl("workflow", "apply", "-f", "bad.yaml")).toBe(1);
  expect(printed.error).toContain("nodes: no nodes [EMPTY]");
});

test("warnings go to standard error and hinder nothing, unless they are to", async () => {
  const warning = {
    path: "nodes[1].type",
    reason: "TYPE_NOT_SERVED",
    message: "did you mean javascript?",
    nodeId: "price",
    line: 3,
    column: 7,
  };
  const refusal = scriptedFailure(Code.InvalidArgument, "DEFINITION_INVALID", "line 3");
  const { gateway, printed, pawl } = await setup({
    workflows: {
      validateWorkflow: () => ({
        definitionJson: jsonTextBytes('{"id":"hello"}'),
        warnings: [warning],
      }),
      getWorkflow: () => ({ workflow: { workflowId: "hello", version: 1 } }),
      updateWorkflow({ strict }) {
        if (strict) throw refusal;
        return { workflow: { workflowId: "hello", version: 2 }, warnings: [warning] };
      },
    },
    runs: {
      testRun: () => ({
        run: { runId: "019a8b3e-1111-7000-8000-000000000001" },
        warnings: [warning],
      }),
    },
  });
  await using _ = gateway;
  const told = 'x.yaml:3:7 node "price": type: did you mean javascript? [TYPE_NOT_SERVED]\n';
  const said = async (...args: string[]) => {
    printed.error = "";
    return [await pawl(...args, "-f", "x.yaml"), printed.error];
  };
  expect(await said("workflow", "apply")).toEqual([0, `warning: ${told}`]);
  expect(await said("workflow", "validate")).toEqual([0, `warning: ${told}`]);
  expect(await said("workflow", "validate", "--strict")).toEqual([1, `warning: ${told}`]);
  expect(await said("run", "test")).toEqual([0, `warning: ${told}`]);
  const [code, error] = await said("workflow", "apply", "--strict");
  expect(code).toBe(1);
  expect(error).toBe(
    `error: x.yaml breaks 1 rule (DEFINITION_INVALID)\n${told}Nothing was saved or started. Correct the definition and try again.\n`,
  );
});
