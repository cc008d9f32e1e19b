// Sample inputs out of definitions.
import { expect, test } from "vitest";
import { sampleInputOf } from "./definition.ts";

test("the first example of the start node's input contract is the sample", () => {
  const contracts = { input: { examples: [{ name: "Ada" }, { name: "Bob" }] } };
  const nodes = [
    { id: "a", type: "noop" },
    { id: "s", type: "start", contracts },
  ];
  expect(sampleInputOf({ nodes })).toEqual({ name: "Ada" });
});

test.each([
  null,
  "text",
  {},
  { nodes: [{ type: "start" }] },
  { nodes: [null] },
  { nodes: [{ type: "start", contracts: { input: { examples: [] } } }] },
])("a definition like %j has no sample", (definition) =>
  expect(sampleInputOf(definition)).toBeUndefined(),
);
