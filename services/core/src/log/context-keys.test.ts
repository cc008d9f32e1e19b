// The page of the worker protocol lists the keys that an executor gets. Executors in other languages are written from it.

import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { sketch, startToyRun } from "../../test/toy-run.ts";
import { contextJson } from "./context.ts";
import { nodeJson } from "./node-json.ts";

const PAGE = new URL("../../../../docs/reference/worker-protocol.md", import.meta.url);

/** The keys in the first column of the table with this heading. */
function keysOf(heading: string): readonly string[] {
  const [, table = ""] = readFileSync(PAGE, "utf8").split(new RegExp(`^\\| ${heading} +\\|`, "m"));
  const [rows = ""] = table.split("\n\n");
  return [...rows.matchAll(/^\| `(\w+)`/gm)].map(([, key = ""]) => key);
}

const run = startToyRun(
  sketch(["a", { id: "b", contracts: { output: { type: "object" } } }], ["a:left>b"]),
);
run.complete("a", 1, {
  handle: "left",
  actions: [{ type: "update_memory", valuesJson: '{"key":1}' }],
});

// The text is made by the code under test.
const written = JSON.parse(nodeJson(run.state.graph, run.index("b"), "node")) as {
  readonly node: object;
  readonly bindings: readonly object[];
};

test("the page lists every key of a node, and the keys that only some nodes have", () => {
  const optional = new Set(["causeSpellings", "input"]);
  expect(
    keysOf("key of a node")
      .filter((key) => !optional.has(key))
      .toSorted(),
  ).toEqual(Object.keys(written.node).toSorted());
});

test("the page lists every key of a binding", () => {
  const always = keysOf("key of a binding").filter((key) => key !== "loop");
  expect(always.toSorted()).toEqual(Object.keys(written.bindings[0] ?? {}).toSorted());
});

test("the page lists every key of a context; those of iterations and supervisors come after the others", () => {
  const keys = Object.keys(JSON.parse(contextJson(run.state, run.index("b"), 0)) as object);
  expect(keysOf("key of `context_json`")).toEqual([
    ...keys,
    "item",
    "index",
    "previous",
    "decisions",
  ]);
});
