import { create, toBinary } from "@bufbuild/protobuf";
import { LIMITS } from "@pawl/core/data/limits";
import { getDefinition } from "@pawl/platform/store/workflows/reads";
import { type NodeRun, NodeRunSchema, NodeHoldSchema, RunSchema } from "@pawl/proto/pawl/v1/run_pb";
import { expect, test } from "vitest";
import { startGateway } from "../gateway.fixture.ts";
import { DefinitionCache } from "./definition-cache.ts";
import { createRunReader, trimOutputs } from "./run-reader.ts";

const KB_240 = 240_000;
const output = (): Uint8Array => new Uint8Array(KB_240).fill(0x31);

const sizes = (nodes: readonly NodeRun[]) =>
  nodes.map(({ outputJson, outputLeftOutBytes }) => [
    outputJson.length,
    Number(outputLeftOutBytes),
  ]);

test("an output that does not fit into the answer is left out with its size, so that no client takes it for an empty one", () => {
  const node = (nodeId: string) => create(NodeRunSchema, { nodeId, outputJson: output() });
  const nodes = [...Array.from({ length: 25 }, (_, n) => node(`n${n}`)), create(NodeRunSchema)];
  const run = create(RunSchema, { nodes });
  trimOutputs(run, 1_000);
  const [fitting, missing] = [
    [KB_240, 0],
    [0, KB_240],
  ];
  expect(sizes(run.nodes)).toEqual([
    ...Array.from({ length: 17 }, () => fitting),
    ...Array.from({ length: 8 }, () => missing),
    [0, 0],
  ]);
  expect(toBinary(RunSchema, run).length).toBeLessThan(LIMITS.messageBytes);
});

test("outputs that wait for a person take room too", () => {
  const node = () =>
    create(NodeRunSchema, { hold: create(NodeHoldSchema, { outputJson: output() }) });
  const run = create(RunSchema, { nodes: Array.from({ length: 25 }, node) });
  trimOutputs(run, 1_000);
  expect(toBinary(RunSchema, run).length).toBeLessThan(LIMITS.messageBytes);
  expect(run.nodes.map(({ hold }) => Number(hold?.outputLeftOutBytes))).toEqual([
    ...Array.from({ length: 17 }, () => 0),
    ...Array.from({ length: 8 }, () => KB_240),
  ]);
});

test.each([
  { part: "its definition", table: "definitions" },
  { part: "its log", table: "run_events" },
])(
  "a run that is deleted before $part is read is not found, and is not taken for a damaged one (S3.45)",
  async ({ table }) => {
    const gateway = await startGateway();
    const { pool } = gateway;
    const run = await gateway.addRun();
    const { rows } = await pool.query<{ definition_id: string }>({
      text: "select definition_id from runs where run_id = $1",
      values: [run],
    });
    const key =
      table === "definitions" ? ["definition_id", rows[0]?.definition_id] : ["run_id", run];
    const definitions = new DefinitionCache(async (id) => {
      // The reader has the row by now.
      const stored = await getDefinition(pool, id);
      await pool.query({ text: "delete from runs where run_id = $1", values: [run] });
      await pool.query({ text: `delete from ${table} where ${key[0]} = $1`, values: [key[1]] });
      return table === "definitions" ? await getDefinition(pool, id) : stored;
    });
    const reader = createRunReader(pool, definitions);
    await expect(reader.getRun(run)).rejects.toMatchObject({ reason: "RUN_NOT_FOUND" });
  },
);
