// What differs between two states of a run: one entry for each field, and one for each key of the memory and each retried node.

import { splitObject } from "../data/split-array.ts";
import type { WorkflowState } from "./workflow-state-shape.ts";
import { workflowStateJson } from "./workflow-state-json.ts";

/** A field whose value differs. A side without the field is undefined. The values are JSON texts. */
interface StateChange {
  /** `status`, or `memory.plan` for a key of the memory. */
  readonly field: string;
  readonly from: string | undefined;
  readonly to: string | undefined;
}

/** Fields that differ between any two events, and say nothing. */
const CLOCKS: ReadonlySet<string> = new Set(["event_id", "updated_at"]);
const SPREAD: ReadonlySet<string> = new Set(["memory", "retries"]);

/** The changes from one state to another, in the order of the fields. */
export function stateChanges(from: WorkflowState, to: WorkflowState): readonly StateChange[] {
  const [before, after] = [fieldsOf(from), fieldsOf(to)];
  return [...new Set([...before.keys(), ...after.keys()])].flatMap((field) => {
    const change = { field, from: before.get(field), to: after.get(field) };
    return change.from === change.to ? [] : [change];
  });
}

/** The fields of a state as JSON texts, in the order of their names on the wire. */
export function fieldsOf(state: WorkflowState): ReadonlyMap<string, string> {
  const fields = new Map<string, string>();
  for (const [field, json] of splitObject(workflowStateJson(state))) {
    if (CLOCKS.has(field)) continue;
    if (SPREAD.has(field))
      for (const [key, each] of splitObject(json)) fields.set(`${field}.${key}`, each);
    else fields.set(field, json);
  }
  return fields;
}
