import { expect, test } from "vitest";
import { parseDefinition, parseSavedDefinition } from "./parse.ts";

const text = (definition: unknown): string => JSON.stringify(definition, null, 1);

function reasonsOf(definition: unknown) {
  const parsed = parseDefinition(text(definition));
  const list = parsed.ok ? parsed.warnings : parsed.violations;
  return list.map(({ path, reason }) => `${reason} ${path}`);
}

const http = (url: string, more: object = {}) => ({
  id: "a",
  type: "http",
  config: { url },
  ...more,
});

test.each(["__proto__", "constructor", "prototype", "toString", "a.b", "a-b", "1a", "_a", ""])(
  "%j is no key of the memory (S2.24)",
  (key) => {
    const nodes = [{ id: "a", type: "noop", write_key: key, read_keys: [key] }];
    expect(reasonsOf({ nodes })).toEqual([
      "BAD_MEMORY_KEY nodes[0].write_key",
      "BAD_MEMORY_KEY nodes[0].read_keys[0]",
    ]);
  },
);

test("a remember node needs keys, and a merge is a known one", () => {
  const node = (values: object) => ({ id: "a", type: "remember", config: { values } });
  expect(reasonsOf({ nodes: [node({})] })).toEqual(["WRONG_TYPE nodes[0].config.values"]);
  expect(reasonsOf({ nodes: [node({ a: 1 })] })).toEqual([]);
  const bad = reasonsOf({ nodes: [node({ "a.b": 1 })] });
  expect(bad).toHaveLength(1);
  expect(reasonsOf({ memory: { a: { merge: "sum" } }, nodes: [node({ a: 1 })] })).toHaveLength(1);
});

test("a template that reads a key beyond its read_keys is refused at its line (S2.33)", () => {
  const nodes = [
    http("https://example.org/{{ ctx.memory.b }}", { read_keys: ["a"], write_key: "b" }),
  ];
  const parsed = parseDefinition(text({ nodes }));
  expect(parsed).toMatchObject({
    ok: false,
    violations: [
      {
        ...{ reason: "MEMORY_KEY_NOT_READ", path: "nodes[0].config.url", nodeId: "a" },
        position: { line: expect.any(Number) as number },
      },
    ],
  });
});

test("a key that no node writes is a warning, with the key that was meant (S2.33)", () => {
  const writer = { id: "w", type: "noop", write_key: "draft" };
  const reader = http("https://example.org/{{ ctx.memory.draft }}", {
    read_keys: ["draft", "notes"],
  });
  expect(reasonsOf({ nodes: [writer, reader] })).toEqual([
    "UNKNOWN_MEMORY_KEY nodes[1].read_keys[1]",
  ]);
  const declared = { memory: { notes: { merge: "array" } }, nodes: [writer, reader] };
  expect(reasonsOf(declared)).toEqual([]);
  const own = { id: "own", type: "acme.write" };
  expect(reasonsOf({ nodes: [writer, reader, own] })).toEqual([]);
  const typo = http("https://example.org/{{ ctx.memory.darft }}");
  const parsed = parseDefinition(text({ nodes: [writer, typo, own] }));
  expect(parsed.ok && parsed.warnings[0]?.message).toContain("did you mean draft?");
});

test("several nodes may write one key", () => {
  const nodes = ["a", "b"].map((id) => ({ id, type: "noop", write_key: "same" }));
  expect(reasonsOf({ nodes })).toEqual([]);
});

test("an output variable cannot be called memory, but a saved one keeps its meaning", () => {
  const nodes = [{ id: "a", type: "noop", output_variable: "memory" }];
  expect(reasonsOf({ nodes })).toEqual(["RESERVED_KEY nodes[0].output_variable"]);
  expect(parseSavedDefinition(text({ nodes })).ok).toBe(true);
});
