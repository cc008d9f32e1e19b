// Definitions that are allowed and most likely a mistake. Every client gets a warning with the line, and may ask for a refusal instead.
// Definitions that were saved before a rule was made keep running.
import { RunStatus } from "@pawl/proto/pawl/v1/run_pb";
import { expect, test } from "vitest";
import { drain, KNOWN, saveKnown } from "./known-workflow.ts";
import { expectRefused } from "./refusal.ts";
import { useStage } from "./stage.ts";

const stage = useStage(undefined, saveKnown);

const YAML = `nodes:
  - { id: start, type: start }
  - { id: price, type: javascrpt }
  - { id: lone, type: noop }
edges:
  - { source: start, target: price }
`;
const TOLD = [
  { path: "nodes[2]", reason: "UNREACHED", nodeId: "lone", line: 4, column: 5 },
  {
    path: "nodes[1].type",
    reason: "TYPE_NOT_SERVED",
    nodeId: "price",
    message: "no connected executor serves javascrpt; did you mean javascript?",
    line: 3,
    column: 18,
  },
];

test("every call that takes a definition warns, at the line, of a type that no executor serves and of a node that no edge leads to", async () => {
  const definition = { text: YAML };
  for (const [index, { workflows, runs }] of stage().doors.entries()) {
    const workflowId = `warned-${index}`;
    expect((await workflows.validateWorkflow({ definition })).warnings).toMatchObject(TOLD);
    const made = await workflows.createWorkflow({ workflowId, definition });
    expect(made.warnings).toMatchObject(TOLD);
    const kept = await workflows.updateWorkflow({ workflowId, definition });
    expect(kept.warnings).toMatchObject(TOLD);
    const { run, warnings } = await runs.testRun({ definition });
    expect(warnings).toMatchObject(TOLD);
    await runs.cancelRun({ runId: run?.runId ?? "" });
  }
});

test("strict refuses what it would warn of, and takes what there is nothing to say about", async () => {
  const definition = { text: YAML };
  const refusal = {
    code: "InvalidArgument",
    reason: "DEFINITION_INVALID",
    field: ["definition.nodes[1].type", "TYPE_NOT_SERVED"],
  } as const;
  await stage().unharmed(async () => {
    for (const { workflows } of stage().doors) {
      const created = workflows.createWorkflow({ workflowId: "bad", definition, strict: true });
      await expectRefused(created, refusal, YAML);
      const updated = workflows.updateWorkflow({ workflowId: KNOWN, definition, strict: true });
      await expectRefused(updated, refusal, YAML);
    }
  });
  const good = { text: '{"nodes":[{"id":"start","type":"start"}]}' };
  const { workflows } = stage().door("gRPC");
  const { warnings } = await workflows.createWorkflow({
    workflowId: "strictly",
    definition: good,
    strict: true,
  });
  expect(warnings).toEqual([]);
});

test("every violation has its line and column, and its node's id in the error of a call", async () => {
  const text =
    "nodes:\n  - { id: start, type: start }\n  - id: price\n    type: http\nedges:\n  - { source: start, target: price }\n";
  for (const { workflows } of stage().doors) {
    const { violations } = await workflows.validateWorkflow({ definition: { text } });
    expect(violations).toMatchObject([{ nodeId: "price", line: 3, column: 5 }]);
    const created = workflows.createWorkflow({ workflowId: "bad", definition: { text } });
    await expect(created).rejects.toMatchObject({
      rawMessage: "line 3, column 5, node price: nodes[1].config.url: is required",
    });
  }
});

test("a name that every JavaScript object has is refused as a workflow id", async () => {
  const definition = { text: '{"nodes":[{"id":"start","type":"start"}]}' };
  await stage().unharmed(async () => {
    for (const { workflows } of stage().doors)
      await expectRefused(workflows.createWorkflow({ workflowId: "constructor", definition }), {
        code: "InvalidArgument",
        reason: "INPUT_INVALID",
        field: ["workflow_id", "RESERVED_KEY"],
      });
  });
});

test("a definition that was saved before it was against the rules runs as it did", async () => {
  const { workflows, runs, events } = stage().door("grpc-js");
  const before = {
    nodes: [
      { id: "start", type: "start" },
      {
        id: "constructor",
        type: "noop",
        retry: "standard",
        contracts: { input: { properties: { x: { pattern: "\\k<n>" } } } },
      },
      { id: "end", type: "end", join: { n_of_m: 2 } },
    ],
    edges: [
      { source: "start", target: "constructor" },
      { source: "constructor", target: "end" },
      { source: "constructor", target: "end" },
    ],
  };
  const definition = { text: '{"nodes":[{"id":"start","type":"start"}]}' };
  await workflows.createWorkflow({ workflowId: "old", definition });
  await stage().db.query("update pawl.definitions set body = $1 where workflow_id = 'old'", [
    JSON.stringify(before),
  ]);
  const { run } = await runs.startRun({ workflowId: "old" });
  const runId = run?.runId ?? "";
  await drain(events.watchRun({ runId }));
  expect((await runs.getRun({ runId })).run?.status).toBe(RunStatus.COMPLETED);
});
