import { create, toBinary } from "@bufbuild/protobuf";
import { LIMITS } from "@pawl/core/data/limits";
import { type NodeRun, NodeRunSchema, NodeHoldSchema, RunSchema } from "@pawl/proto/pawl/v1/run_pb";
import { expect, test } from "vitest";
import { trimOutputs } from "./run-reader.ts";

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
