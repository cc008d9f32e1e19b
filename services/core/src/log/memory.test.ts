import * as fc from "fast-check";
import { expect, test } from "vitest";
import { graphOf, RUN, sketch, startToyRun } from "../../test/toy-run.ts";
import type { Action } from "../action/kinds.ts";
import { merge, MERGE_STRATEGIES, type MergeStrategy } from "../data/merge.ts";
import { contextBytes, contextJson, runContextJson } from "./context.ts";
import { apply, fold } from "./fold.ts";
import { readSnapshot, SNAPSHOT_FORMAT, writeSnapshot } from "./snapshot.ts";
import { newRunState, type RunState } from "./state.ts";

fc.configureGlobal({ seed: 1 });

const write = (values: object): { readonly actions: readonly Action[] } => ({
  actions: [{ type: "update_memory", valuesJson: JSON.stringify(values) }],
});

const memoryOf = (state: RunState) =>
  Object.fromEntries(
    [...state.memory].map(([key, { json }]) => [key, JSON.parse(json) as unknown]),
  );

const contextOf = (state: RunState, index: number) =>
  JSON.parse(contextJson(state, index, 0)) as { memory?: unknown };

test("a run begins with an empty memory, and a node that uses none costs no bytes (S2.24)", () => {
  const run = startToyRun(sketch(["start", "a"], ["start>a"]));
  run.complete("start");
  expect(run.state.memory.size).toBe(0);
  expect(contextOf(run.state, 1)).not.toHaveProperty("memory");
  expect(contextBytes(run.state, 1, 0)).toBe(64 + 4 + "start".length + 4 + 4);
});

test("write_key takes the output; of a model's answer, its text (S2.31)", () => {
  const run = startToyRun(
    sketch(
      [
        "start",
        { id: "plan", write_key: "plan" },
        {
          ...{ id: "draft", type: "llm", write_key: "draft" },
          config: { model: "m", prompt: "p" },
        },
        { id: "last" },
      ],
      ["start>plan", "plan>draft", "draft>last"],
    ),
  );
  run.complete("start");
  run.complete("plan", { steps: [1, 2] });
  run.complete("draft", { text: 'He said "hi"', finish_reason: "stop" });
  expect(memoryOf(run.state)).toEqual({ plan: { steps: [1, 2] }, draft: 'He said "hi"' });
  expect(run.types()).not.toContain("memory.updated plan");
  expect(JSON.parse(runContextJson(run.state))).toMatchObject({ memory: memoryOf(run.state) });
});

test("a node that leaves by error does not write its key (S2.31)", () => {
  const node = { id: "a", write_key: "a", error_handling: "continue" };
  const run = startToyRun(sketch(["start", node], ["start>a"]));
  run.complete("start");
  run.fail("a", "acme.no", true);
  expect(run.node("a").handle).toBe("error");
  expect(run.state.memory.size).toBe(0);
});

test("an action writes the memory directly behind the completion, and keeps the spelling of numbers (S2.32)", () => {
  const run = startToyRun(sketch(["start", "a"], ["start>a"]));
  run.complete("start");
  run.claim("a");
  const valuesJson = '{ "n": 1.50, "list" : [1 , 2] }';
  run.report("a", {
    ...{ kind: "completed", outputJson: "1", durationMs: 1 },
    actions: [{ type: "update_memory", valuesJson }],
  });
  expect(run.types().slice(-3)).toEqual(["node.completed a", "memory.updated a", "run.completed"]);
  expect(run.events.at(-2)?.value).toBe('{"n":1.50,"list":[1 , 2]}');
  expect(run.state.memory.get("n")).toMatchObject({ json: "1.50", bytes: 4, nodeId: "a" });
});

test("read_keys is a filtered view: a list, none, or all (S2.33)", () => {
  const run = startToyRun(
    sketch(
      [
        "start",
        { id: "some", read_keys: ["a", "missing"] },
        { id: "none", read_keys: [] },
        { id: "all" },
      ],
      ["start>some", "start>none", "start>all"],
    ),
  );
  run.complete("start", null, write({ a: 1, b: 2 }));
  const seen = [1, 2, 3].map((index) => contextOf(run.state, index).memory);
  expect(seen).toEqual([{ a: 1 }, undefined, { a: 1, b: 2 }]);
  for (const index of [1, 2, 3])
    expect(contextBytes(run.state, index, 0)).toBeGreaterThanOrEqual(
      Buffer.byteLength(contextJson(run.state, index, 0)),
    );
});

test("a node that names its keys in templates gets no others, and an iteration only those of its body (S2.33)", () => {
  const config = { url: "https://example.org/{{ ctx.memory.a }}" };
  const body = { type: "http", config: { url: "https://example.org/{{ ctx.memory.b }}" } };
  const run = startToyRun(
    graphOf({
      nodes: [
        { id: "start", type: "start" },
        { id: "call", type: "http", config },
        { id: "each", type: "map", config: { items: [1], body } },
      ],
      edges: [
        { source: "start", target: "call" },
        { source: "start", target: "each" },
      ],
    }),
  );
  run.complete("start", null, write({ a: 1, b: 2, c: 3 }));
  expect(contextOf(run.state, 1).memory).toEqual({ a: 1 });
  run.claim("each");
  const items = {
    kind: "expanded",
    itemsJson: "[1]",
    width: 1,
    cut: false,
    durationMs: 1,
  } as const;
  run.report("each", items);
  expect(JSON.parse(contextJson(run.state, 2, 1))).toMatchObject({ memory: { b: 2 } });
});

test("parallel writers of one key resolve by event id, or as the workflow says (S2.24)", () => {
  const memory = {
    log: { merge: "array" },
    by: { merge: "json_object" },
    text: { merge: "concat" },
  };
  const nodes = [
    { id: "start", type: "start" },
    { id: "a", type: "task" },
    { id: "b", type: "task" },
  ];
  const edges = ["a", "b"].map((target) => ({ source: "start", target }));
  const run = startToyRun(graphOf({ memory, nodes, edges }));
  run.complete("start");
  run.claim("a");
  run.claim("b");
  for (const id of ["b", "a"])
    run.report(id, {
      ...{ kind: "completed", outputJson: "null", durationMs: 1 },
      ...write({ last: id, log: id, by: id, text: id }),
    });
  expect(memoryOf(run.state)).toEqual({
    ...{ last: "a", log: ["b", "a"], text: "b\n\na" },
    by: { b: "b", a: "a" },
  });
});

const REFERENCE = `{"$pawl.value":{"sha256":"${"0".repeat(64)}","bytes":300000}}`;

test.each([
  ["array", '{"a":1}', '[{"a":1},5]'],
  ["array", '"text"', '["text",5]'],
  ["array", REFERENCE, `[${REFERENCE},5]`],
  ["json_object", '[{"a":1}]', '{"n0":[{"a":1}],"n1":5}'],
  ["json_object", "7", '{"n0":7,"n1":5}'],
  ["json_object", REFERENCE, `{"n0":${REFERENCE},"n1":5}`],
  ["concat", '{"a":1}', '"{\\"a\\":1}\\n\\n5"'],
])(
  "%s keeps a value of another type that a merge put there (S2.24, S2.37)",
  (strategy, old, now) => {
    const memory = { key: { merge: strategy } };
    const nodes = ["n0", "n1"].map((id) => ({ id, type: "task" }));
    const run = startToyRun(graphOf({ memory, nodes }));
    const mergeOld = {
      ...({ type: "merge_parallel_results", strategy: "last_write_wins" } as const),
      ...{ keys: ["old"], nodes: [], into: "key" },
    };
    const update = { type: "update_memory", valuesJson: `{"old":${old}}` } as const;
    run.complete("n0", null, { actions: [update, mergeOld] });
    expect(run.state.memory.get("key")?.json).toBe(old);
    run.complete("n1", null, write({ key: 5 }));
    expect(run.state.memory.get("key")?.json).toBe(now);
    expect(run.state.status).toBe("completed");
  },
);

test("a value that the thread brought from another workflow stays whole in a merged key (S2.24, X21)", () => {
  const memory = { list: { merge: "array" }, by: { merge: "json_object" } };
  const run = startToyRun(graphOf({ memory, nodes: [{ id: "n", type: "task" }] }));
  const place = { nodeId: "", iteration: 0, attempt: 0, epoch: 0 } as const;
  const value = '{"list":{"a":1},"by":["x"]}';
  run.append({ ...place, type: "run.thread.taken", payload: { threadId: "t" }, value });
  run.complete("n", null, write({ list: 5, by: 6 }));
  expect(memoryOf(run.state)).toEqual({ list: [{ a: 1 }, 5], by: { "": ["x"], n: 6 } });
});

const KEYS = ["a", "b", "c", "d"] as const;
const STRATEGY: Readonly<Record<string, MergeStrategy>> = {
  b: "array",
  c: "json_object",
  d: "concat",
};

/** What the memory holds, computed from the writes alone. */
function oracle(writes: readonly (readonly [node: string, key: string, value: unknown])[]) {
  const keys = [...new Set(writes.map(([, key]) => key))];
  return Object.fromEntries(
    keys.map((key) => {
      const items = writes.flatMap(([label, one, value]) =>
        one === key ? [{ label, value }] : [],
      );
      return [key, merge(STRATEGY[key] ?? "last_write_wins", items)];
    }),
  );
}

test("for any program of writes the fold equals the oracle, and a snapshot at any event folds on to the same (S2.24, S2.31)", () => {
  const value = fc.jsonValue({ maxDepth: 2 });
  const values = fc.dictionary(fc.constantFrom(...KEYS), value, { maxKeys: 3 });
  const node = fc.record({
    writeKey: fc.option(fc.constantFrom(...KEYS)),
    output: value,
    values: fc.option(values),
  });
  fc.assert(
    fc.property(
      fc.array(node, { minLength: 1, maxLength: 6 }),
      fc.infiniteStream(fc.nat()),
      (nodes, picks) => {
        const memory = Object.fromEntries(
          Object.entries(STRATEGY).map(([key, one]) => [key, { merge: one }]),
        );
        const graph = graphOf({
          memory,
          nodes: [
            { id: "start", type: "start" },
            ...nodes.map(({ writeKey }, at) => ({
              id: `n${at}`,
              type: "task",
              write_key: writeKey,
            })),
          ],
          edges: nodes.map((_, at) => ({ source: "start", target: `n${at}` })),
        });
        const run = startToyRun(graph);
        run.complete("start");
        const left = nodes.map((one, at) => ({ ...one, id: `n${at}` }));
        const writes: (readonly [string, string, unknown])[] = [];
        while (left.length > 0) {
          const [one] = left.splice((picks.next().value ?? 0) % left.length, 1);
          if (one === undefined) break;
          run.complete(one.id, one.output, one.values === null ? {} : write(one.values));
          if (one.writeKey !== null) writes.push([one.id, one.writeKey, one.output]);
          for (const [key, each] of Object.entries(one.values ?? {}))
            writes.push([one.id, key, each]);
        }
        expect(memoryOf(run.state)).toEqual(JSON.parse(JSON.stringify(oracle(writes))));
        const whole = fold(RUN, graph, run.events);
        expect(whole.memory).toEqual(run.state.memory);
        const prefix = newRunState(RUN, graph);
        for (const [at, event] of run.events.entries()) {
          apply(prefix, event);
          const again = { format: SNAPSHOT_FORMAT, body: writeSnapshot(prefix) };
          const state = readSnapshot(RUN, graph, again);
          if (state === undefined) throw new Error(`no state at ${at + 1}`);
          for (const later of run.events.slice(at + 1)) apply(state, later);
          expect(state.memory).toEqual(whole.memory);
          expect(state.memoryBytes).toBe(whole.memoryBytes);
        }
      },
    ),
    { numRuns: 150 },
  );
  expect(new Set(Object.values(STRATEGY)).size).toBe(MERGE_STRATEGIES.length - 1);
});
