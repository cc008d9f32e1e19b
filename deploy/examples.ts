// The example workflows: one YAML file each, named after its workflow. A sample input stands where JSON Schema has a place for
// it: the first of the `examples` in the input contract of the start node. Every example also runs without an input.
import { readdirSync, readFileSync } from "node:fs";
import { type Json, sampleInputOf } from "@pawl/client";
import { readText } from "@pawl/core/definition/read-text";

const FOLDER = new URL("examples/", import.meta.url);

/** One example. */
export type Example = {
  readonly workflowId: string;
  readonly text: string;
  readonly sampleInput: Json;
};

/** Every example in the order of its name. @throws RangeError for one without a sample input */
export function readExamples(): readonly Example[] {
  const files = readdirSync(FOLDER).filter((name) => name.endsWith(".yaml"));
  return files.toSorted().map((name) => {
    const text = readFileSync(new URL(name, FOLDER), "utf8");
    const read = readText(text);
    const sampleInput = read.ok ? sampleInputOf(read.value) : undefined;
    if (sampleInput === undefined) throw new RangeError(`the example ${name} has no sample input`);
    return { workflowId: name.replace(".yaml", ""), text, sampleInput };
  });
}

/** One example by its name. @throws RangeError when there is none */
export function readExample(workflowId: string): Example {
  const found = readExamples().find((example) => example.workflowId === workflowId);
  if (found === undefined) throw new RangeError(`there is no example ${workflowId}`);
  return found;
}
