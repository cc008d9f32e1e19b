// The sample input of a workflow as text to edit.
import { sampleInputOf } from "@pawl/client";

/** The sample as JSON text set out on lines; empty when there is none. */
export function sampleInput(definition: unknown): string {
  const sample = sampleInputOf(definition);
  return sample === undefined ? "" : JSON.stringify(sample, null, 2);
}
