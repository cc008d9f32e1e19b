// The words about node types fit the schemas.
import { NODE_DOCS } from "@pawl/core/definition/node-docs";
import { NODE_CONFIGS } from "@pawl/core/definition/node-types";
import { parseDefinition } from "@pawl/core/definition/parse";
import { expect, test } from "vitest";

test("every node type has its section", () => {
  expect(Object.keys(NODE_DOCS).toSorted()).toEqual(Object.keys(NODE_CONFIGS).toSorted());
});

const examples = Object.entries(NODE_DOCS).map(([type, { example }]) => ({ type, example }));

test.each(examples)("the example of $type is a node of a valid definition", ({ type, example }) => {
  const first = type === "start" ? "" : "- { id: start, type: start }\n";
  const parsed = parseDefinition(`nodes:\n${first}${example}\n`);
  expect(parsed).toMatchObject({ ok: true });
});
