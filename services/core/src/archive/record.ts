// The records of an archived run: one JSON object a line. The record of the run is the first, the manifest the last. PostgreSQL writes the
// fields of a record from the columns of its table, and reads them again at a restore. JSON of the engine and of users is text inside a
// record, so it survives to the letter. Times are in UTC with microseconds.

import { z } from "zod";
import { FAILURE_CLASSES, type FailureClass } from "../fault/class.ts";
import type { RunStatus } from "../log/event.ts";
import { isUuid } from "../name/ids.ts";

/** The version of the format. A reader refuses every other one. */
export const ARCHIVE_FORMAT = 1;

const INT_MAX = 2 ** 31 - 1;
const MOMENT = /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}(\.\d{1,6})?$/;
const BASE64 = /^[A-Za-z0-9+/]*={0,2}$/;
const DIGEST = /^[0-9a-f]{64}$/;

const STATUSES = [
  ...([
    "pending",
    "scheduled",
    "running",
    "waiting",
    "retrying",
    "paused",
    "compensating",
  ] as const),
  ...(["completed", "failed", "cancelled", "timeout"] as const),
] as const satisfies readonly RunStatus[];

const CLASSES = Object.keys(FAILURE_CLASSES) as [FailureClass, ...FailureClass[]];

const text = z.string();
const uuid = z.string().refine(isUuid, "expected a UUID");
const moment = z.string().regex(MOMENT, "expected a time");
const sha256 = z.string().regex(DIGEST, "expected 64 hexadecimal digits");
const int = z.int().min(-INT_MAX).max(INT_MAX);
const count = z.int().min(0).max(INT_MAX);
const long = z.int().min(0);
/** One loop over the text: the pattern of the library needs a step of its stack for every four characters. */
const base64 = z
  .string()
  .refine((data) => data.length % 4 === 0 && BASE64.test(data), "expected base64");
/** JSON as text. The check of the reader parses it. */
const json = z.string().min(1);

const run = z.strictObject({
  record: z.literal("run"),
  format: z.literal(ARCHIVE_FORMAT),
  run_id: uuid,
  tenant_id: text,
  definition_id: uuid,
  workflow_id: text.nullable(),
  workflow_version: count,
  kind: z.enum(["saved", "test", "temporary"]),
  status: z.enum(STATUSES),
  version: long,
  last_seq: long,
  has_failures: z.boolean(),
  priority: int,
  error_message: text.nullable(),
  /** Absent in files of earlier versions. */
  failure_class: z.enum(CLASSES).nullable().optional(),
  request_id: text.nullable(),
  traceparent: text.nullable(),
  created_at: moment,
  ended_at: moment.nullable(),
  deadline_at: moment,
  start_at: moment.nullable(),
  parent_run_id: uuid.nullable(),
  parent_node_id: text.nullable(),
  parent_iteration: int.nullable(),
  schedule_id: text.nullable(),
  schedule_at: moment.nullable(),
  thread_id: text.nullable(),
  assistant_id: text.nullable(),
  stop: z.enum(["interrupt", "rollback"]).nullable(),
});

const execution = { node_id: text, iteration: int };

/** Every record, in the order of a file. Those after the run and before the events may be absent. */
export const RECORDS = {
  run,
  metadata: z.strictObject({ record: z.literal("metadata"), metadata: json }),
  request: z.strictObject({
    record: z.literal("request"),
    request_id: text,
    request_hash: text,
  }),
  repair: z.strictObject({ record: z.literal("repair"), repair_of: uuid, plan_digest: text }),
  thread: z.strictObject({
    record: z.literal("thread"),
    thread_id: text,
    position: long,
    /** Its place in the stream of the thread. */
    turn: long.nullable(),
  }),
  graph: z.strictObject({
    record: z.literal("graph"),
    definition_id: uuid,
    workflow_id: text.nullable(),
    version: count.nullable(),
    digest: text,
    title: text,
    node_count: count,
    body: json,
    created_at: moment,
  }),
  /** A child run. It has a file of its own. */
  child: z.strictObject({ record: z.literal("child"), run_id: uuid }),
  /** A part of a stored value, in base64. */
  value: z.strictObject({
    record: z.literal("value"),
    sha256,
    bytes: long.min(1),
    part: count,
    data: base64,
  }),
  effect: z.strictObject({
    record: z.literal("effect"),
    ...execution,
    name: text,
    class: z.enum(["transactional", "idempotent", "at_most_once"]),
    begun_epoch: long,
    committed_epoch: long.nullable(),
    result: json.nullable(),
    begun_at: moment,
    committed_at: moment.nullable(),
  }),
  approval: z.strictObject({
    record: z.literal("approval"),
    approval_id: uuid,
    workflow_id: text.nullable(),
    ...execution,
    reason: text,
    message: text,
    details: json.nullable(),
    assignees: z.array(text),
    state: z.enum(["open", "approved", "rejected", "timed_out", "cancelled"]),
    opened_at: moment,
    deadline_at: moment.nullable(),
    closed_at: moment.nullable(),
    decided_by: text,
    comment: text,
    response: json.nullable(),
  }),
  dead_letter: z.strictObject({
    record: z.literal("dead_letter"),
    dead_letter_id: uuid,
    workflow_id: text.nullable(),
    ...execution,
    attempt: int,
    node_type: text,
    deliveries: int,
    executor_id: uuid,
    reason: text,
    error_message: text,
    died_at: moment,
    state: z.enum(["open", "redriven", "discarded"]),
    redrive_run_id: uuid.nullable(),
    closed_at: moment.nullable(),
    closed_request_id: text.nullable(),
  }),
  event: z.strictObject({
    record: z.literal("event"),
    seq: long.min(1),
    type: text,
    ...execution,
    attempt: int,
    epoch: long,
    ordinal: int,
    payload: json,
    value: json.nullable(),
    at: moment,
  }),
  manifest: z.strictObject({
    record: z.literal("manifest"),
    format: z.literal(ARCHIVE_FORMAT),
    run_id: uuid,
    /** Lines before this one. */
    lines: count,
    /** How many records of each kind the file has. */
    counts: z.record(text, count),
    /** The digest of all bytes before this line. */
    sha256,
  }),
} as const;

export type RecordName = keyof typeof RECORDS;
export type RecordOf<Name extends RecordName> = z.infer<(typeof RECORDS)[Name]>;
export type ArchiveRecord = { [Name in RecordName]: RecordOf<Name> }[RecordName];
export type Manifest = RecordOf<"manifest">;

/** The names of records in the order of a file. */
export const RECORD_NAMES = Object.keys(RECORDS) as readonly RecordName[];
/** Records of which a file has at most one. */
export const SINGLE: ReadonlySet<RecordName> = new Set([
  ...(["run", "metadata", "request", "repair", "thread", "graph", "manifest"] as const),
]);
