import { expect, test } from "vitest";
import { graphOf, sketch, startToyRun, type ToyRun } from "../../test/toy-run.ts";
import type { Action } from "../action/kinds.ts";
import { LIMITS } from "../data/limits.ts";

const update = (values: object): Action => ({
  type: "update_memory",
  valuesJson: JSON.stringify(values),
});

const failureOf = (run: ToyRun) => {
  const event = run.events.find(({ type }) => type === "node.failed");
  return event?.type === "node.failed" ? event.payload : undefined;
};

test("the memory is bounded: one key, the number of keys, and all together (S2.24)", () => {
  const half = "x".repeat(LIMITS.valueBytes / 2);
  const memory = { grows: { merge: "array" } };
  const nodes = Array.from({ length: 12 }, (_, at) => ({ id: `n${at}`, type: "task" }));
  const grown = startToyRun(graphOf({ memory, nodes }));
  for (const at of [0, 1, 2])
    grown.complete(`n${at}`, null, { actions: [update({ grows: half })] });
  expect(failureOf(grown)?.cause).toBe("memory_too_large");

  const many = startToyRun(graphOf({ nodes }));
  const keys = (from: number, count: number): object =>
    Object.fromEntries(Array.from({ length: count }, (_, at) => [`k${from + at}`, 1]));
  many.complete("n0", null, { actions: [update(keys(0, LIMITS.memoryKeys))] });
  many.complete("n1", null, { actions: [update({ k0: 2 })] });
  expect(failureOf(many)).toBeUndefined();
  many.complete("n2", null, { actions: [update({ more: 1 })] });
  expect(failureOf(many)?.cause).toBe("memory_too_large");
  expect(many.state.memory.size).toBe(LIMITS.memoryKeys);

  const full = startToyRun(graphOf({ nodes }));
  for (const [at] of nodes.entries())
    full.complete(`n${at}`, null, { actions: [update({ [`k${at}`]: half })] });
  expect(failureOf(full)?.cause).toBe("memory_too_large");
  expect(full.state.memoryBytes).toBeLessThanOrEqual(LIMITS.memoryBytes);
});

test("a write_key for which there is no room fails its node (S2.31)", () => {
  const node = { id: "a", write_key: "a" };
  const run = startToyRun(sketch(["start", node], ["start>a"]));
  run.complete("start", null, {
    actions: [
      update(
        Object.fromEntries(Array.from({ length: LIMITS.memoryKeys }, (_, at) => [`k${at}`, 1])),
      ),
    ],
  });
  run.complete("a", 1);
  expect(failureOf(run)?.cause).toBe("memory_too_large");
});

const INLINE = { mayComplete: () => true, bytes: LIMITS.inlineBytes };

test("glue nodes of one round do not pass the bounds of the memory together (S2.24)", () => {
  const values = (name: string): object =>
    Object.fromEntries(Array.from({ length: 600 }, (_, at) => [`${name}${at}`, 1]));
  const nodes = ["a", "b"].map((id) => ({ id, type: "remember", config: { values: values(id) } }));
  const run = startToyRun(graphOf({ nodes }), null, { ...INLINE });
  expect([run.node("a").status, run.node("b").status]).toEqual(["completed", "failed"]);
  expect(failureOf(run)?.cause).toBe("memory_too_large");
  expect(run.state.memory.size).toBe(600);
});

test("a map whose write_key has no room in the memory fails (S2.31)", () => {
  const values = Object.fromEntries(
    Array.from({ length: LIMITS.memoryKeys }, (_, at) => [`k${at}`, 1]),
  );
  const nodes = [
    { id: "full", type: "remember", config: { values } },
    { id: "m", type: "map", config: { items: [1], body: { type: "noop" } }, write_key: "more" },
  ];
  const edges = [{ source: "full", target: "m" }];
  const run = startToyRun(graphOf({ nodes, edges }), null, { ...INLINE });
  expect(failureOf(run)?.cause).toBe("memory_too_large");
  expect(run.state.memory.size).toBe(LIMITS.memoryKeys);
});
