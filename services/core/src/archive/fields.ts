// The fields by which archived runs are found: those of runs that the head of a file has.

import { timeOf } from "../filter/moment.ts";
import { RUN_FIELDS } from "../filter/run-fields.ts";
import type { RecordOf } from "./record.ts";

const { input: _input, is_live: _isLive, ...fields } = RUN_FIELDS;
export const ARCHIVE_FIELDS = fields;

/** The values of the fields. Times and durations are in milliseconds. */
export function archiveFieldsOf(run: RecordOf<"run">, metadata: string | undefined) {
  const [began, ended] = [msOf(run.created_at), msOf(run.ended_at)];
  return {
    status: run.status,
    stop: run.stop,
    workflow: run.workflow_id,
    version: run.workflow_version,
    kind: run.kind,
    schedule: run.schedule_id,
    thread: run.thread_id,
    assistant: run.assistant_id,
    parent: run.parent_run_id,
    priority: run.priority,
    has_failures: run.has_failures,
    error: run.error_message,
    failure_class: run.failure_class ?? null,
    create_time: began,
    end_time: ended,
    duration: began === null || ended === null ? null : ended - began,
    metadata: metadata === undefined ? null : (JSON.parse(metadata) as unknown),
  } satisfies Readonly<Record<keyof typeof ARCHIVE_FIELDS, unknown>>;
}

/** Milliseconds since 1970 of a time in a record. */
export const msOf = (moment: string | null): number | null =>
  moment === null ? null : (timeOf(`${moment}Z`) ?? null);
