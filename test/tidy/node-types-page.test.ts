// The page about node types says what the schemas say.
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { NODE_DOCS } from "@pawl/core/definition/node-docs";
import { NODE_CONFIGS } from "@pawl/core/definition/node-types";
import { parseDefinition } from "@pawl/core/definition/parse";
import { expect, test } from "vitest";
import { nodeTypesPage, PAGE } from "./node-types-page.ts";
import { ROOT } from "./sources.ts";

test("the page of node types is what the schemas give; npm run docs writes it anew", () => {
  expect(readFileSync(join(ROOT, PAGE), "utf8")).toBe(nodeTypesPage());
});

test("every node type has its section", () => {
  expect(Object.keys(NODE_DOCS).toSorted()).toEqual(Object.keys(NODE_CONFIGS).toSorted());
});

const examples = Object.entries(NODE_DOCS).map(([type, { example }]) => ({ type, example }));

test.each(examples)("the example of $type is a node of a valid definition", ({ type, example }) => {
  const first = type === "start" ? "" : "- { id: start, type: start }\n";
  const parsed = parseDefinition(`nodes:\n${first}${example}\n`);
  expect(parsed).toMatchObject({ ok: true });
});
