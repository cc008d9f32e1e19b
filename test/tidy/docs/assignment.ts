// The tables of docs/reference/worker-protocol.md about the JSON of an assignment. Their words are the descriptions of the schema.
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { ROOT } from "../sources.ts";
import { code, table } from "./table.ts";

const SCHEMA = "proto/pawl/worker/v1/assignment.schema.json";

interface Part {
  readonly description?: string;
  readonly enum?: readonly (string | null)[];
  readonly required?: readonly string[];
  readonly properties?: Readonly<Record<string, Part>>;
}

/** The objects that a table describes, in the order of the page. */
const OBJECTS = {
  context_json: "key of `context_json`",
  node_json: "key of `node_json`",
  binding: "key of a binding",
  node: "key of a node",
} as const;

/** A table for each object of the schema. */
export function assignmentTables(): string {
  // The file is checked by the test that validates real assignments with it.
  const { $defs } = JSON.parse(readFileSync(join(ROOT, SCHEMA), "utf8")) as {
    readonly $defs: Readonly<Record<string, Part>>;
  };
  return Object.entries(OBJECTS)
    .map(([name, head]) => tableOf(head, $defs[name] ?? {}))
    .join("\n\n");
}

function tableOf(head: string, { properties = {}, required = [] }: Part): string {
  const rows = Object.entries(properties).map(([key, part]) => [
    code(key),
    valueText(part),
    required.includes(key) ? "always" : "sometimes",
  ]);
  return table([head, "value", "present"], rows);
}

function valueText({ description = "", enum: words = [] }: Part): string {
  const named = words.filter((word) => word !== null).map(code);
  return named.length === 0 ? description : `${named.join(", ")}: ${description}`;
}
