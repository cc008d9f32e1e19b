import fc from "fast-check";
import { expect, test } from "vitest";
import { EngineError } from "../fault/engine-error.ts";
import { ARCHIVE_FIELDS, archiveFieldsOf } from "./fields.ts";
import { ArchiveReader } from "./reader.ts";
import { type ArchiveRecord, RECORD_NAMES, RECORDS, SINGLE } from "./record.ts";

const RUN_ID = "0198c0de-0000-7000-8000-000000000001";
const OTHER_ID = "0198c0de-0000-7000-8000-000000000002";
const AT = "2026-06-10T08:00:00.123456";

const RUN = {
  ...{ record: "run", format: 1, run_id: RUN_ID, tenant_id: "default", definition_id: OTHER_ID },
  ...{ workflow_id: "w", workflow_version: 1, kind: "saved", status: "completed", version: 3 },
  ...{ last_seq: 2, has_failures: false, priority: 0, error_message: null, request_id: null },
  ...{
    traceparent: null,
    created_at: AT,
    ended_at: AT,
    deadline_at: AT,
    start_at: null,
    parent_run_id: null,
  },
  ...{ parent_node_id: null, parent_iteration: null, schedule_id: null, schedule_at: null },
  ...{ thread_id: null, assistant_id: null, stop: null },
} as const;

const TEXTS = fc.string({ unit: "grapheme", maxLength: 8 }).filter((text) => !text.includes("\0"));
const JSON_TEXTS = fc
  .jsonValue({ maxDepth: 2 })
  .map((value) => JSON.stringify(value))
  // The entrance of values refuses these, too.
  .filter((text) => !/__proto__|prototype|\\u0000|\\ud/.test(text));
const EXECUTION = { node_id: TEXTS, iteration: fc.nat() };

const OPTIONAL: readonly fc.Arbitrary<unknown>[] = [
  fc.record({ record: fc.constant("metadata"), metadata: JSON_TEXTS }),
  fc.record({ record: fc.constant("request"), request_id: TEXTS, request_hash: TEXTS }),
  fc.record({ record: fc.constant("child"), run_id: fc.constant(OTHER_ID) }),
  fc.record({
    ...EXECUTION,
    ...{ record: fc.constant("effect"), name: TEXTS, class: fc.constant("idempotent") },
    ...{ begun_epoch: fc.nat(), committed_epoch: fc.option(fc.nat()) },
    ...{
      result: fc.option(JSON_TEXTS),
      begun_at: fc.constant(AT),
      committed_at: fc.constant(null),
    },
  }),
  fc.record({
    ...EXECUTION,
    ...{ record: fc.constant("dead_letter"), dead_letter_id: fc.constant(OTHER_ID) },
    ...{ workflow_id: fc.option(TEXTS), attempt: fc.nat(), node_type: TEXTS, deliveries: fc.nat() },
    ...{ executor_id: fc.constant(OTHER_ID), reason: TEXTS, error_message: TEXTS },
    ...{ died_at: fc.constant(AT), state: fc.constant("open"), redrive_run_id: fc.constant(null) },
    ...{ closed_at: fc.constant(null), closed_request_id: fc.option(TEXTS) },
  }),
];
const EVENTS = fc.array(
  fc.record({
    ...{ record: fc.constant("event"), type: fc.constant("node.queued"), ...EXECUTION },
    ...{ attempt: fc.nat(), epoch: fc.nat(), ordinal: fc.nat(), payload: JSON_TEXTS },
    ...{ value: fc.option(JSON_TEXTS), at: fc.constant(AT) },
  }),
  { minLength: 1, maxLength: 5 },
);

/** The lines of a whole file, with its manifest. */
const FILES = fc
  .tuple(fc.tuple(...OPTIONAL.map((each) => fc.option(each, { nil: undefined }))), EVENTS)
  .map(([optional, events]) => {
    const numbered = events.map((event, at) => ({ ...event, seq: at + 1 }));
    return withManifest([RUN, ...optional.filter((each) => each !== undefined), ...numbered]);
  });

function withManifest(records: readonly unknown[]): string[] {
  const counts: Record<string, number> = {};
  for (const each of records) {
    const { record } = each as { record: string };
    counts[record] = (counts[record] ?? 0) + 1;
  }
  const manifest = {
    ...{ record: "manifest", format: 1, run_id: RUN_ID, lines: records.length, counts },
    sha256: "0".repeat(64),
  };
  return [...records, manifest].map((each) => JSON.stringify(each));
}

function readAll(lines: readonly string[]): ArchiveRecord[] {
  const reader = new ArchiveReader(RUN_ID);
  const records = lines.map((line) => reader.read(line));
  reader.end();
  return records;
}

/** The line at which the file is refused. Undefined if it is accepted. */
function refusedAt(lines: readonly string[]): number | undefined {
  try {
    readAll(lines);
    return undefined;
  } catch (error) {
    if (!(error instanceof EngineError) || error.reason !== "ARCHIVE_INVALID") throw error;
    return Number(error.metadata.line);
  }
}

test("a file is read as it was written, whatever its texts are", () => {
  fc.assert(
    fc.property(FILES, (lines) => {
      expect(readAll(lines)).toEqual(lines.map((line): unknown => JSON.parse(line)));
    }),
    { seed: 41 },
  );
});

test("a file that lacks a line, or has one twice, is refused", () => {
  fc.assert(
    fc.property(FILES, fc.nat(), fc.boolean(), (lines, place, isRepeated) => {
      const at = place % lines.length;
      const line = lines[at] ?? "";
      const changed = lines.toSpliced(at, isRepeated ? 0 : 1, ...(isRepeated ? [line] : []));
      expect(refusedAt(changed)).toBeGreaterThanOrEqual(1);
    }),
    { seed: 41 },
  );
});

const EVENT = {
  ...{ record: "event", seq: 1, type: "run.started", node_id: "", iteration: 0, attempt: 0 },
  ...{ epoch: 0, ordinal: 0, payload: "{}", value: null, at: AT },
};

test.each<readonly [string, number, readonly string[]]>([
  ["a gap in the log", 2, withManifest([RUN, { ...EVENT, seq: 2 }])],
  ["a foreign format", 1, withManifest([{ ...RUN, format: 2 }, EVENT])],
  ["another run", 1, withManifest([{ ...RUN, run_id: OTHER_ID }, EVENT])],
  ["an unknown field", 2, withManifest([RUN, { ...EVENT, more: 1 }])],
  ["an unknown record", 2, withManifest([RUN, { record: "secret" }])],
  [
    "records in the wrong order",
    3,
    withManifest([RUN, EVENT, { record: "child", run_id: RUN_ID }]),
  ],
  ["no run", 1, withManifest([EVENT])],
  [
    "a key that names a prototype",
    2,
    [
      JSON.stringify(RUN),
      JSON.stringify(EVENT).replace('"payload":"{}"', '"__proto__":{"x":1},"payload":"{}"'),
    ],
  ],
  ["such a key in a payload", 2, withManifest([RUN, { ...EVENT, payload: '{"__proto__":1}' }])],
  ["such a key in a value", 2, withManifest([RUN, { ...EVENT, value: '[{"__proto__":1}]' }])],
  ["a NUL character", 2, withManifest([RUN, { ...EVENT, node_id: "a\0b" }])],
  ["half a surrogate pair", 2, withManifest([RUN, { ...EVENT, node_id: "\ud800" }])],
  ["text that is not JSON", 2, [JSON.stringify(RUN), "{"]],
  ["a number that is too large", 2, withManifest([RUN, { ...EVENT, iteration: 2 ** 31 }])],
  ["a line behind the manifest", 4, [...withManifest([RUN, EVENT]), JSON.stringify(EVENT)]],
  ["no manifest", 3, withManifest([RUN, EVENT]).slice(0, -1)],
  ["nothing", 1, []],
])("a file with %s is refused at its line", (_, line, lines) => {
  expect(refusedAt(lines)).toBe(line);
});

test("records that a file has once are known kinds, and the manifest is the last", () => {
  for (const name of SINGLE) expect(RECORD_NAMES).toContain(name);
  expect([RECORD_NAMES[0], RECORD_NAMES.at(-1)]).toEqual(["run", "manifest"]);
});

test("an archived run has a value for each field of a filter", () => {
  const run = { ...RUN, assistant_id: "helper", thread_id: "talk", stop: "interrupt" };
  const fields = archiveFieldsOf(RECORDS.run.parse(run), undefined);
  expect(Object.keys(fields).toSorted()).toEqual(Object.keys(ARCHIVE_FIELDS).toSorted());
  expect(fields).toMatchObject({ assistant: "helper", thread: "talk", stop: "interrupt" });
});
