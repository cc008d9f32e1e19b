// The input_schema of a workflow: every way to start a run refuses an input that does not fit, with the path, and nothing is written.
import { randomUUID } from "node:crypto";
import { createPawlClient, PawlError, plainEvent } from "@pawl/client";
import { expect, onTestFinished, test } from "vitest";
import { expectRefused, invalidField } from "./refusal.ts";
import { useStage } from "./stage.ts";

const PARCEL = "parcel";
const schemaOf = (required: readonly string[]) => ({
  type: "object",
  required,
  properties: { grams: { type: "integer", minimum: 1 }, to: { type: "string" } },
});
const text = (required: readonly string[]) =>
  JSON.stringify({
    id: PARCEL,
    input_schema: schemaOf(required),
    nodes: [{ id: "only", type: "noop" }],
  });
const bytes = (value: unknown): Uint8Array<ArrayBuffer> =>
  new Uint8Array(Buffer.from(JSON.stringify(value)));

const FITTING = { grams: 500, to: "Ada" };
const HEAVY = bytes({ grams: 0.5, to: "Ada" });
const NO_GRAMS = invalidField("input_json.grams", "CONTRACT_VIOLATION");

const stage = useStage(undefined, async ({ door }) => {
  await door("gRPC").workflows.createWorkflow({ definition: { text: text(["grams"]) } });
});

/** A client of the package, closed after the test. */
function client() {
  const pawl = createPawlClient({ baseUrl: stage().url });
  onTestFinished(() => pawl.close());
  return pawl;
}

const refusedBy = async (call: Promise<unknown>): Promise<unknown> => {
  const error = await call.then(
    () => undefined,
    (thrown: unknown) => thrown,
  );
  if (!(error instanceof PawlError)) throw new Error("the call was answered", { cause: error });
  return { reason: error.reason, fields: error.violations.map(({ path }) => path) };
};

test("every door refuses a start, an execution and a test run whose input does not fit", async () => {
  await stage().unharmed(async () => {
    for (const { runs } of stage().doors) {
      await expectRefused(runs.startRun({ workflowId: PARCEL, inputJson: HEAVY }), NO_GRAMS);
      await expectRefused(
        runs.testRun({ definition: { text: text(["grams"]) }, inputJson: HEAVY }),
        NO_GRAMS,
      );
      const execution = runs.executeRun({ start: { workflowId: PARCEL, inputJson: HEAVY } });
      await expectRefused(
        execution[Symbol.asyncIterator]().next(),
        invalidField("start.input_json.grams", "CONTRACT_VIOLATION"),
      );
    }
  });
  for (const { runs } of stage().doors)
    expect(
      (await runs.startRun({ workflowId: PARCEL, inputJson: bytes(FITTING) })).run?.runId,
    ).toBeTruthy();
});

test("a start over the standing stream is refused by itself, and other starts complete", async () => {
  const pawl = client();
  const [wrong, right] = await Promise.all([
    refusedBy(pawl.run(PARCEL, { grams: "much" })),
    pawl.run(PARCEL, FITTING),
  ]);
  expect(wrong).toMatchObject({ reason: "INPUT_INVALID" });
  expect(JSON.stringify(wrong)).toContain("input_json.grams");
  expect(right).toBeDefined();
});

test("a schedule whose input does not fit is refused when it is saved", async () => {
  const daily = { workflowId: PARCEL, kind: "cron", expression: "0 3 * * *" } as const;
  const wrong = await refusedBy(client().schedules.create("daily", { ...daily, input: {} }));
  expect(wrong).toEqual({ reason: "INPUT_INVALID", fields: ["spec.input_json"] });
});

test("a child run whose input does not fit fails its node with input_invalid, and no child starts", async () => {
  const pawl = client();
  const config = { workflow_id: PARCEL, input: { grams: -1 } };
  const definition = { nodes: [{ id: "child", type: "subworkflow", config }] };
  const { run } = await pawl.runs.test(JSON.stringify(definition));
  const ended = await pawl.runs.wait(run.runId);
  expect(ended.nodes[0]?.errorMessage).toContain("workflow parcel: input.grams must be >= 1");
  const failed: unknown[] = [];
  for await (const event of pawl.watch(run.runId, { types: ["node.failed"] }))
    if (event.type === "node.failed") failed.push(plainEvent(event));
  expect(failed).toMatchObject([{ payload: { cause: "input_invalid" } }]);
});

test("a repeat of a request gets its run, although the workflow has a stricter schema since", async () => {
  const { runs, workflows } = stage().door("gRPC");
  const request = { workflowId: PARCEL, inputJson: bytes({ grams: 7 }), requestId: randomUUID() };
  const { run } = await runs.startRun(request);
  const definition = { text: text(["grams", "to"]) };
  const { workflow } = await workflows.getWorkflow({ workflowId: PARCEL });
  const expectedVersion = workflow?.version ?? 0;
  await workflows.updateWorkflow({ workflowId: PARCEL, definition, expectedVersion });
  const again = await runs.startRun(request);
  expect(again).toMatchObject({ duplicate: true, run: { runId: run?.runId } });
  await expectRefused(
    runs.startRun({ ...request, requestId: randomUUID() }),
    invalidField("input_json", "CONTRACT_VIOLATION"),
  );
});
