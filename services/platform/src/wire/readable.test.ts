import { create, type DescMessage, fromBinary, toBinary, toJson } from "@bufbuild/protobuf";
import { LIMITS } from "@pawl/core/data/limits";
import { file_pawl_v1_approval_service } from "@pawl/proto/pawl/v1/approval_service_pb";
import {
  NodeCompletedSchema,
  NodeFailedSchema,
  RunEventSchema,
  file_pawl_v1_event,
} from "@pawl/proto/pawl/v1/event_pb";
import {
  ListEventsResponseSchema,
  file_pawl_v1_event_service,
} from "@pawl/proto/pawl/v1/event_service_pb";
import { file_pawl_v1_queue_service } from "@pawl/proto/pawl/v1/queue_service_pb";
import { file_pawl_v1_queued_command } from "@pawl/proto/pawl/v1/queued_command_pb";
import { RunSchema, file_pawl_v1_run } from "@pawl/proto/pawl/v1/run_pb";
import { GetRunResponseSchema, file_pawl_v1_run_service } from "@pawl/proto/pawl/v1/run_service_pb";
import { file_pawl_v1_schedule } from "@pawl/proto/pawl/v1/schedule_pb";
import { file_pawl_v1_schedule_service } from "@pawl/proto/pawl/v1/schedule_service_pb";
import { file_pawl_v1_approval } from "@pawl/proto/pawl/v1/approval_pb";
import { file_pawl_v1_effect } from "@pawl/proto/pawl/v1/effect_pb";
import { file_pawl_v1_workflow } from "@pawl/proto/pawl/v1/workflow_pb";
import { file_pawl_v1_workflow_service } from "@pawl/proto/pawl/v1/workflow_service_pb";
import { expect, test } from "vitest";
import { readable } from "./readable.ts";
import { toJsonBytes } from "./scalar.ts";

const FILES = [
  file_pawl_v1_approval,
  file_pawl_v1_approval_service,
  file_pawl_v1_effect,
  file_pawl_v1_event,
  file_pawl_v1_event_service,
  file_pawl_v1_queue_service,
  file_pawl_v1_queued_command,
  file_pawl_v1_run,
  file_pawl_v1_run_service,
  file_pawl_v1_schedule,
  file_pawl_v1_schedule_service,
  file_pawl_v1_workflow,
  file_pawl_v1_workflow_service,
];

const messages: readonly DescMessage[] = FILES.flatMap(({ messages: found }) => found);

test("every field of JSON bytes in the contract has a readable value beside it, and every answer a mark for one that is left out", () => {
  const missing = messages.flatMap(({ typeName, fields }) =>
    fields.flatMap(({ localName, parent: { field } }) => {
      if (!localName.endsWith("Json")) return [];
      const value = field[localName.slice(0, -"Json".length)];
      const isValue =
        value?.fieldKind === "message" && value.message.typeName === "google.protobuf.Value";
      const isMarked = typeName.endsWith("Request") || field["valuesLeftOut"] !== undefined;
      return isValue && isMarked ? [] : [`${typeName}.${localName}`];
    }),
  );
  expect(missing).toEqual([]);
  expect(messages.length).toBeGreaterThan(50);
});

const completed = (text: string) =>
  create(RunEventSchema, {
    eventId: 3n,
    fact: {
      case: "nodeCompleted",
      value: create(NodeCompletedSchema, { outputJson: toJsonBytes(text) }),
    },
  });

test("a caller gets values beside the bytes, bytes alone, or values alone; the shared message is not changed", () => {
  const text = '{"b":[1,2.5,"x",true,null],"a":{"__proto__":{"c":1}}}';
  const event = completed(text);
  const page = create(ListEventsResponseSchema, { events: [event, create(RunEventSchema)] });
  const before = toBinary(ListEventsResponseSchema, page);
  const shown = (form: "both" | "bytes" | "values") =>
    (
      toJson(ListEventsResponseSchema, readable(ListEventsResponseSchema, page, form)) as {
        events: { nodeCompleted: Record<string, unknown> }[];
      }
    ).events[0]?.nodeCompleted;
  const outputJson = Buffer.from(text).toString("base64");
  // As text, since equality of objects does not see __proto__.
  expect(JSON.stringify(shown("both"))).toBe(`{"outputJson":"${outputJson}","output":${text}}`);
  expect(JSON.stringify(shown("values"))).toBe(`{"output":${text}}`);
  expect(JSON.stringify(shown("bytes"))).toBe(`{"outputJson":"${outputJson}"}`);
  expect(readable(ListEventsResponseSchema, page, "bytes")).toBe(page);
  expect(toBinary(ListEventsResponseSchema, page)).toEqual(before);
});

test("an event without JSON is passed on unchanged", () => {
  const page = create(ListEventsResponseSchema, { events: [create(RunEventSchema)] });
  expect(readable(ListEventsResponseSchema, page, "both")).toBe(page);
});

test.each([
  ["nested deeper than readers of protobuf take", "[".repeat(31) + "]".repeat(31)],
  ["a number beyond doubles", "1e999"],
  ["no JSON", "{"],
  ["larger than an answer may show", JSON.stringify("x".repeat(LIMITS.readableBytes))],
])("a value that is %s is left out with a mark, and its bytes are kept", (_, text) => {
  const failed = create(NodeFailedSchema, { cause: "x", detailsJson: toJsonBytes(text) });
  const shown = readable(NodeFailedSchema, failed, "values");
  expect(shown.details).toBeUndefined();
  expect(shown.valuesLeftOut).toEqual(["details"]);
  expect(shown.detailsJson).toEqual(failed.detailsJson);
});

test("a value at the depth that is shown can be read back by a reader of protobuf", () => {
  const text = '{"a":'.repeat(30) + "1" + "}".repeat(30);
  const page = create(ListEventsResponseSchema, { events: [completed(text)] });
  const bytes = toBinary(
    ListEventsResponseSchema,
    readable(ListEventsResponseSchema, page, "values"),
  );
  const back = toJson(ListEventsResponseSchema, fromBinary(ListEventsResponseSchema, bytes));
  expect(JSON.stringify(back)).toContain(text);
});

test.each([
  ["small numbers", `[${"1,".repeat(100_000)}1]`],
  ["empty lists", `[${"[],".repeat(80_000)}[]]`],
  ["short keys", JSON.stringify(Object.fromEntries([...Array(9_000).keys()].map((n) => [n, 1])))],
  ["text that is escaped", JSON.stringify("\u0001".repeat(40_000))],
])("the values in an answer of %s never make it larger than one message", (_, text) => {
  // As large as GetRun lets an answer become.
  const run = create(RunSchema, {
    inputJson: toJsonBytes(text),
    outputJson: toJsonBytes(text),
    errorMessage: "x".repeat(LIMITS.messageBytes - 2 * text.length - 300_000),
  });
  const answer = create(GetRunResponseSchema, { run });
  for (const form of ["both", "values"] as const) {
    const shown = readable(GetRunResponseSchema, answer, form);
    expect(toBinary(GetRunResponseSchema, shown).length).toBeLessThanOrEqual(LIMITS.messageBytes);
    expect(JSON.stringify(toJson(GetRunResponseSchema, shown)).length).toBeLessThanOrEqual(
      2 * LIMITS.messageBytes,
    );
  }
});

test("of many values the first ones are shown, and each of the others is marked", () => {
  const text = JSON.stringify("x".repeat(LIMITS.readableBytes / 4));
  const page = create(ListEventsResponseSchema, {
    events: Array.from({ length: 5 }, () => completed(text)),
  });
  const { events } = readable(ListEventsResponseSchema, page, "both");
  const facts = events.map(({ fact }) => (fact.case === "nodeCompleted" ? fact.value : undefined));
  expect(facts.map((fact) => fact?.output !== undefined)).toEqual([true, true, true, false, false]);
  expect(facts.map((fact) => fact?.valuesLeftOut)).toEqual([[], [], [], ["output"], ["output"]]);
});
