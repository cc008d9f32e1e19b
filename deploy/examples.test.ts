// The examples a first start registers. test/flow/examples.test.ts runs them.
import { parseDefinition } from "@pawl/core/definition/parse";
import { expect, test } from "vitest";
import { readExample, readExamples } from "./sample.ts";

test.each(readExamples())(
  "the example $workflowId is a valid definition named after its file, with words for people",
  ({ workflowId, text }) => {
    const parsed = parseDefinition(text);
    expect(parsed).toMatchObject({ ok: true, definition: { id: workflowId } });
    expect(text).toMatch(/^title: \S/m);
    expect(text).toMatch(/^description: \S/m);
  },
);

test("the examples use every kind of node", () => {
  const used = new Set(
    readExamples().flatMap(({ text }) =>
      [...text.matchAll(/^\s*type: (\w+)$/gm)].map(([, type]) => type),
    ),
  );
  const wanted = ["condition", "dataQuery", "delay", "http", "javascript", "llm", "loop", "map"];
  expect([...used]).toEqual(expect.arrayContaining([...wanted, "subworkflow", "text_stream"]));
});

test("the error for an unknown example names it", () => {
  expect(() => readExample("none")).toThrow("there is no example none");
});
