// The catalogue of node types on a real trio: an executor registers schemas by hand, every door lists them, and definitions are checked.
import { LIMITS } from "@pawl/core/data/limits";
import type { MessageInitShape } from "@bufbuild/protobuf";
import { createPawlClient } from "@pawl/client";
import type { NodeTypeDescriptorSchema } from "@pawl/proto/pawl/worker/v1/worker_service_pb";
import { expect, onTestFinished, test } from "vitest";
import { connectExecutor, type FakeExecutor } from "./fake-executor.ts";
import { expectRefused } from "./refusal.ts";
import { useStage } from "./stage.ts";

const stage = useStage();

const object = (properties: object): string =>
  JSON.stringify({
    type: "object",
    properties,
    required: Object.keys(properties),
    additionalProperties: false,
  });
const PRICE = {
  type: "shop.price",
  description: "prices an order",
  inputSchema: object({ sku: { type: "string" } }),
  outputSchema: object({ total: { type: "number" } }),
  configSchema: object({ currency: { enum: ["EUR", "USD"] } }),
};
const LETTER = { type: "shop.letter", inputSchema: object({ amount: { type: "string" } }) };
const PROCESS = { name: "pricing", language: "python 3.12", sdk: "pawl-sdk 0.1.0", build: "7f3a" };

type Descriptor = MessageInitShape<typeof NodeTypeDescriptorSchema>;

/** An executor that serves these types with their schemas, and leaves after the test. */
async function serving(...descriptors: readonly Descriptor[]): Promise<FakeExecutor> {
  const executor = connectExecutor(`127.0.0.1:${stage().cluster.schedulers[0]?.port}`);
  onTestFinished(() => executor.leave());
  const nodeTypes = descriptors.map(({ type = "" }) => type);
  await executor.register({ nodeTypes, descriptors: [...descriptors], process: PROCESS, slots: 3 });
  return executor;
}

const refusedOf = async (executor: FakeExecutor) => (await executor.hear("registered")).refused;

test("every door lists built-in and registered types by name, page by page, and reads one with its schemas", async () => {
  await serving(PRICE);
  for (const { nodeTypes } of stage().doors) {
    const names: string[] = [];
    for (let pageToken = ""; ;) {
      const page = await nodeTypes.listNodeTypes({ pageSize: 4, pageToken });
      expect(page.nodeTypes.every(({ configSchema }) => configSchema === "")).toBe(true);
      names.push(...page.nodeTypes.map(({ type }) => type));
      pageToken = page.nextPageToken;
      if (pageToken === "") break;
    }
    expect(names).toEqual(names.toSorted());
    expect(names).toEqual(expect.arrayContaining(["http", "loop", "shop.price", "start"]));
    const { nodeType } = await nodeTypes.getNodeType({ type: "shop.price" });
    expect(nodeType).toMatchObject({ ...PRICE, builtIn: false, executors: 1 });
    const http = (await nodeTypes.getNodeType({ type: "http" })).nodeType;
    expect(http).toMatchObject({ builtIn: true, executors: 1 });
    expect(JSON.parse(http?.configSchema ?? "")).toHaveProperty("properties.url");
    await expectRefused(
      nodeTypes.getNodeType({ type: "shop.pirce" }),
      { code: "NotFound", reason: "NODE_TYPE_NOT_FOUND" },
      "",
    );
  }
});

test("connected executors are listed with process, slots, busy and silence, and are gone when they leave", async () => {
  const executor = await serving(PRICE);
  const { nodeTypes } = stage().door("gRPC");
  const listed = async () =>
    (await nodeTypes.listExecutors({})).executors.find(
      ({ executorId }) => executorId === executor.executorId,
    );
  const { name: processName, ...process } = PROCESS;
  expect(await listed()).toMatchObject({
    ...process,
    processName,
    nodeTypes: ["shop.price"],
    slots: 3,
    busy: 0,
    silentMs: 0n,
    schedulerId: (await executor.hear("registered")).schedulerId,
  });
  executor.say({ case: "renew", value: { silentMs: 22_000n, giveUpMs: 38_000n } } as never);
  await expect.poll(async () => Number((await listed())?.silentMs)).toBeGreaterThanOrEqual(22_000);
  const giveUpMs = Number((await listed())?.giveUpMs);
  expect(giveUpMs).toBeGreaterThan(0);
  expect(giveUpMs).toBeLessThanOrEqual(38_000);
  // A time that PostgreSQL cannot hold does not fail the renewals.
  const endless = 2n ** 64n - 1n;
  executor.say({ case: "renew", value: { silentMs: endless, giveUpMs: endless } } as never);
  const shown = LIMITS.shownSilenceMsMax;
  await expect.poll(async () => Number((await listed())?.silentMs)).toBeGreaterThanOrEqual(shown);
  await executor.leave();
  await expect.poll(listed).toBeUndefined();
});

test("a running node names its handler process, its silence, and when the executor gives it up", async () => {
  const executor = await serving({ type: "shop.slow" });
  const client = createPawlClient({ baseUrl: stage().url });
  const { run } = await client.runs.test({ nodes: [{ id: "slow", type: "shop.slow" }] });
  const { claim } = await executor.assigned(run.runId);
  executor.say({
    case: "renew",
    value: { held: [claim], silentMs: 22_000n, giveUpMs: 3_600_000n },
  } as never);
  const summary = async () => (await client.runs.explain(run.runId, "slow")).summary;
  await expect
    .poll(summary)
    .toMatch(
      /Its handler process pricing \(python 3\.12, build 7f3a\) has been silent for 2\d.*gives it up in/,
    );
  await client.runs.cancel(run.runId);
});

test("a build that breaks callers is refused by name, and its other types serve", async () => {
  await serving(PRICE);
  const inputSchema = object({ sku: { type: "integer" } });
  const second = await serving({ ...PRICE, inputSchema }, { type: "shop.other" });
  expect(await refusedOf(second)).toMatchObject([
    { type: "shop.price", reason: "TYPE_CONFLICT", message: expect.stringContaining("price@2") },
  ]);
  const { nodeTypes } = stage().door("gRPC");
  const { nodeType } = await nodeTypes.getNodeType({ type: "shop.price" });
  expect(nodeType).toMatchObject({ inputSchema: PRICE.inputSchema, executors: 1 });
  expect((await nodeTypes.getNodeType({ type: "shop.other" })).nodeType?.executors).toBe(1);
});

test("a definition that cannot work with the published schemas is refused at its line, by every call that takes one", async () => {
  await serving(PRICE, LETTER);
  const text = `nodes:
  - { id: price, type: shop.price, config: { currency: GBP }, contracts: {} }
  - { id: letter, type: shop.letter }
  - { id: other, type: shop.prize }
edges:
  - { source: price, target: letter, source_output_key: total, target_param_label: amount }
`;
  const definition = { text };
  const wrong = [
    { path: "nodes[0].config.currency", reason: "TYPE_MISMATCH", nodeId: "price", line: 2 },
    { path: "edges[0].target_param_label", reason: "TYPE_MISMATCH", nodeId: "letter", line: 6 },
  ];
  const refusal = {
    code: "InvalidArgument",
    reason: "DEFINITION_INVALID",
    field: ["definition.nodes[0].config.currency", "TYPE_MISMATCH"],
  } as const;
  await stage().unharmed(async () => {
    for (const { workflows, runs } of stage().doors) {
      const { violations } = await workflows.validateWorkflow({ definition });
      expect(violations).toMatchObject(wrong);
      await expectRefused(
        workflows.createWorkflow({ workflowId: "bad", definition }),
        refusal,
        text,
      );
      await expectRefused(runs.testRun({ definition }), refusal, text);
    }
  });
  const mended = text
    .replace("GBP", "EUR")
    .replace(", source_output_key: total, target_param_label: amount", "");
  const { workflows } = stage().door("gRPC");
  const { violations } = await workflows.validateWorkflow({ definition: { text: mended } });
  expect(violations).toMatchObject([
    { path: "nodes[1]", message: expect.stringContaining("amount is missing, but is required") },
  ]);
});

test("a type that no executor ever registered is a warning with the nearest registered name", async () => {
  await serving(PRICE);
  const { workflows } = stage().door("gRPC");
  const text = '{"nodes":[{"id":"price","type":"shop.prise"}]}';
  const { warnings } = await workflows.validateWorkflow({ definition: { text } });
  expect(warnings).toMatchObject([
    { reason: "TYPE_NOT_SERVED", message: expect.stringContaining("did you mean shop.price?") },
  ]);
});
