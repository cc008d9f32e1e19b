import type { DescField, DescMessage } from "@bufbuild/protobuf";
import { ScalarType } from "@bufbuild/protobuf";
import {
  AssignmentSchema,
  ClaimSchema,
  CompletedSchema,
  OutcomeSchema,
  SchedulerItemSchema,
  SettledSchema,
  WorkerItemSchema,
  WorkRequestSchema,
  WorkResponseSchema,
} from "@pawl/proto/pawl/worker/v1/worker_service_pb";
import { expect, test } from "vitest";
import {
  ASSIGNMENT,
  CLAIM,
  COMPLETED,
  MESSAGE,
  OUTCOME,
  SCHEDULER_ITEM,
  SETTLED,
  WORKER_ITEM,
} from "./work-fields.ts";

const VARINTS = new Set([ScalarType.BOOL, ScalarType.UINT32, ScalarType.UINT64]);
const DELIMITED = new Set([ScalarType.STRING, ScalarType.BYTES]);

/** The byte before a field on the wire. */
function tagOf(field: DescField): number {
  const { number, fieldKind, scalar } = field;
  if (scalar !== undefined && VARINTS.has(scalar)) return number * 8;
  if (fieldKind === "message" || fieldKind === "list") return number * 8 + 2;
  if (scalar !== undefined && DELIMITED.has(scalar)) return number * 8 + 2;
  throw new Error(`${field.toString()} is of a type the codec does not know`);
}

const tagsOf = (schema: DescMessage): Record<string, number> =>
  Object.fromEntries(schema.fields.map((field) => [field.localName, tagOf(field)]));

const TABLES: readonly [DescMessage, Readonly<Record<string, number>>][] = [
  [WorkRequestSchema, MESSAGE],
  [WorkResponseSchema, MESSAGE],
  [ClaimSchema, CLAIM],
  [AssignmentSchema, ASSIGNMENT],
  [SettledSchema, SETTLED],
  [OutcomeSchema, OUTCOME],
  [CompletedSchema, COMPLETED],
];

test("every field of a message that is coded by hand is known to the codec, by number and kind", () => {
  for (const [schema, tags] of TABLES) expect({ ...tags }, schema.name).toEqual(tagsOf(schema));
});

test("an item is one case and nothing else, and the cases coded by hand have their numbers", () => {
  for (const schema of [SchedulerItemSchema, WorkerItemSchema])
    expect(schema.fields.filter((field) => field.oneof?.localName !== "item")).toEqual([]);
  expect(tagsOf(SchedulerItemSchema)).toMatchObject(SCHEDULER_ITEM);
  expect(tagsOf(WorkerItemSchema)).toMatchObject(WORKER_ITEM);
});

test("every tag is a single byte, as reader and writer have it", () => {
  const all = [...TABLES.map(([, tags]) => tags), SCHEDULER_ITEM, WORKER_ITEM];
  for (const tag of all.flatMap((tags) => Object.values(tags))) expect(tag).toBeLessThan(0x80);
});
