// Every workflow and every node that a document shows is valid.
import { parseDefinition } from "@pawl/core/definition/parse";
import { readText } from "@pawl/core/definition/read-text";
import { expect, test } from "vitest";
import { trackedSources } from "../sources.ts";
import { fencesOf } from "./markdown.ts";

const yaml = trackedSources((path) => path.endsWith(".md")).flatMap(({ path, text }) =>
  fencesOf(text)
    .filter(({ language }) => language === "yaml")
    .map((fence) => ({ at: `${path}:${fence.line}`, text: fence.text })),
);
const isWorkflow = (text: string): boolean => /^nodes:/m.test(text);
/** A list of nodes, as an item of `nodes` is written. */
const isNodes = (text: string): boolean => /^- (id: |\{ id: )/.test(text);

/** What is wrong with an example, as its author would read it. */
function faultsOf(text: string): readonly string[] {
  const start = /type: start\b/.test(text) ? "" : "- { id: start, type: start }\n";
  const source = isWorkflow(text) ? text : `nodes:\n${start}${text}\n`;
  const parsed = parseDefinition(source);
  if (!parsed.ok) return parsed.violations.map(({ path, message }) => `${path}: ${message}`);
  // A single node is incomplete on purpose, so its warnings do not count; a whole workflow must have none.
  return isWorkflow(text) ? parsed.warnings.map(({ message }) => message) : [];
}

test("every workflow of a document is valid and gives no warning", () => {
  const workflows = yaml.filter(({ text }) => isWorkflow(text));
  expect(workflows.flatMap(({ at, text }) => faultsOf(text).map((why) => `${at}: ${why}`))).toEqual(
    [],
  );
  expect(workflows.length).toBeGreaterThan(5);
});

test("every node of a document is valid", () => {
  const nodes = yaml.filter(({ text }) => isNodes(text));
  expect(nodes.flatMap(({ at, text }) => faultsOf(text).map((why) => `${at}: ${why}`))).toEqual([]);
});

test("every other YAML of a document can be read", () => {
  for (const { at, text } of yaml) expect(readText(text), at).toMatchObject({ ok: true });
});
