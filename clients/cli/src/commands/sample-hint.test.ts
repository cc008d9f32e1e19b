import { Code } from "@connectrpc/connect";
import { type Json, jsonBytes } from "@pawl/client";
import { scriptedFailure, scriptedLog } from "@pawl/client/scripted-gateway";
import { BadRequestSchema } from "@pawl/proto/google/rpc/error_details_pb";
import { NodeStatus, RunStatus } from "@pawl/proto/pawl/v1/run_pb";
import { expect, test } from "vitest";
import { setup } from "./scripted-host.fixture.ts";

const RUN = "019a8b3e-1111-7000-8000-000000000001";
const definitionOf = (input: Json): Json => ({
  nodes: [
    { id: "s", type: "start", contracts: { input } },
    { id: "letter", type: "text_stream" },
  ],
  edges: [{ source: "s", target: "letter" }],
});
const SAMPLED = definitionOf({ examples: [{ order: "A-1" }] });

interface Ended {
  readonly input?: Json;
  readonly definition?: Json;
  readonly failedNode?: string;
  readonly workflowId?: string;
  readonly status?: RunStatus;
}

/** A gateway on which every run ends like this. */
const setupEnded = ({
  input = null,
  definition = SAMPLED,
  failedNode = "letter",
  workflowId = "order-review",
  status = RunStatus.FAILED,
}: Ended = {}) => {
  const nodes = [{ nodeId: failedNode, status: NodeStatus.FAILED }];
  return setup({
    runs: {
      startRun: () => ({ run: { runId: RUN } }),
      getRun: () => ({
        run: { runId: RUN, workflowId, status, inputJson: jsonBytes(input), nodes },
        definitionJson: jsonBytes(definition),
      }),
    },
    watch: () => [
      {
        send: scriptedLog(RUN, [
          {
            type: "run.failed",
            fact: { case: "runFailed", value: { message: "letter: no order" } },
          },
        ]),
      },
    ],
  });
};

test("a run that failed without input names --sample, where it was waited for and where it is read", async () => {
  const { gateway, printed, pawl } = await setupEnded();
  await using _ = gateway;
  expect(await pawl("run", "start", "order-review", "--wait")).toBe(1);
  expect(printed.error).toContain(
    "This workflow has a sample input: `pawl run start order-review --sample`.",
  );
  expect(await pawl("run", "get", RUN)).toBe(0);
  expect(printed.out).toMatch(/^next +pawl run start order-review --sample$/m);
});

const named: readonly (readonly [string, Ended, string])[] = [
  ["an input that the start node refused", { input: { a: 1 }, failedNode: "s" }, "run start"],
  ["an empty object", { input: {} }, "run start"],
  ["no input of a test run", { workflowId: "" }, "run test -f FILE"],
];
test.each(named)("--sample is named for %s", async (_name, ended, command) => {
  const { gateway, printed, pawl } = await setupEnded(ended);
  await using _ = gateway;
  expect(await pawl("run", "get", RUN)).toBe(0);
  expect(printed.out).toMatch(new RegExp(`^next +pawl ${command}.* --sample$`, "m"));
});

const unnamed: readonly (readonly [string, Ended])[] = [
  ["an input with which a later node failed", { input: { a: 1 } }],
  ["a workflow without a sample", { definition: definitionOf({}) }],
  ["a run that was cancelled", { status: RunStatus.CANCELLED }],
];
test.each(unnamed)("--sample is not named for %s", async (_name, ended) => {
  const { gateway, printed, pawl } = await setupEnded(ended);
  await using _ = gateway;
  expect(await pawl("run", "get", RUN)).toBe(0);
  expect(printed.out).toContain(RUN);
  expect(printed.out).not.toContain("--sample");
});

test("a start that is refused for its input names --sample", async () => {
  const refuse = (field: string) => () => {
    const fieldViolations = [
      { field, reason: "INPUT_INVALID", description: "is nested too deeply" },
    ];
    throw scriptedFailure(Code.InvalidArgument, "INPUT_INVALID", `${field} is wrong`, [
      { desc: BadRequestSchema, value: { fieldViolations } },
    ]);
  };
  for (const [field, isNamed] of [
    ["input_json", true],
    ["priority", false],
  ] as const) {
    const { gateway, printed, pawl } = await setup({ runs: { startRun: refuse(field) } });
    await using _ = gateway;
    expect(await pawl("run", "start", "hello", "--input", "[[1]]")).toBe(2);
    expect(printed.error.includes("`pawl run start WORKFLOW --sample`")).toBe(isNamed);
  }
});
