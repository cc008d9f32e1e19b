// Archived runs on the wire.

import { create } from "@bufbuild/protobuf";
import { ARCHIVE_FIELDS, archiveFieldsOf, msOf } from "@pawl/core/archive/fields";
import type { Manifest, RecordOf } from "@pawl/core/archive/record";
import { invalidField } from "@pawl/core/fault/engine-error";
import { matches } from "@pawl/core/filter/evaluate";
import type { JsonObject } from "@pawl/core/data/merge-patch";
import { definitionId, nodeId, runId } from "@pawl/core/name/ids";
import {
  type ArchivedRun,
  ArchivedRunSchema,
  type ListArchivedRunsRequest,
  type RestoreRunRequest,
} from "@pawl/proto/pawl/v1/archive_service_pb";
import type { RunHead } from "../archive/lines.ts";
import type { RunRecord } from "../store/runs/runs.ts";
import { requestIdOf, runIdOf } from "./fields.ts";
import { filterOf } from "./filter.ts";
import { toWireRun } from "./run.ts";

const MONTH = /^\d{4}-(0[1-9]|1[0-2])$/;

/** @throws INPUT_INVALID */
export const parseRestore = (request: RestoreRunRequest) => ({
  runId: runIdOf(request.runId),
  requestId: requestIdOf(request.requestId),
});

/** What a list of archived runs asks for. @throws INPUT_INVALID, FILTER_INVALID */
export function parseListArchived({ month, filter }: ListArchivedRunsRequest) {
  if (month !== "" && !MONTH.test(month))
    throw invalidField("month", "MALFORMED", "is not a month such as 2026-06");
  const asked = filter.trim() === "" ? undefined : filterOf("filter", filter, ARCHIVE_FIELDS);
  return {
    month,
    /** One form of the filter, to which page tokens are bound. */
    text: asked?.text ?? "",
    finds: ({ run, metadata }: RunHead): boolean =>
      asked === undefined || matches(asked.typed, archiveFieldsOf(run, metadata)),
  };
}

/** A run of the archive. `manifest` is there if the whole file was read. */
export function toWireArchivedRun({ run, metadata }: RunHead, manifest?: Manifest): ArchivedRun {
  const known = manifest === undefined ? {} : { sha256: manifest.sha256 };
  return create(ArchivedRunSchema, {
    ...known,
    run: toWireRun(recordOf(run, metadata)),
    lines: BigInt(manifest === undefined ? 0 : manifest.lines + 1),
    counts: Object.entries(manifest?.counts ?? {}).map(([record, count]) => ({ record, count })),
  });
}

/** The record of the run as the store would read it. */
const recordOf = (run: RecordOf<"run">, metadata: string | undefined): RunRecord => ({
  runId: runId(run.run_id),
  definitionId: definitionId(run.definition_id),
  workflowId: run.workflow_id,
  workflowVersion: run.workflow_version,
  kind: run.kind,
  status: run.status,
  lastSeq: run.last_seq,
  hasFailures: run.has_failures,
  priority: run.priority,
  errorMessage: run.error_message,
  failureClass: run.failure_class ?? null,
  traceparent: run.traceparent,
  createdAt: msOf(run.created_at) ?? 0,
  endedAt: msOf(run.ended_at),
  restoredAt: null,
  deadlineAt: msOf(run.deadline_at) ?? 0,
  startAt: msOf(run.start_at),
  parent:
    run.parent_run_id === null
      ? null
      : {
          runId: runId(run.parent_run_id),
          nodeId: nodeId(run.parent_node_id ?? ""),
          iteration: run.parent_iteration ?? 0,
        },
  quarantine: null,
  schedule:
    run.schedule_id === null
      ? null
      : { scheduleId: run.schedule_id, at: msOf(run.schedule_at) ?? 0 },
  threadId: run.thread_id,
  assistantId: run.assistant_id,
  stop: run.stop,
  metadata: metadata === undefined ? null : (JSON.parse(metadata) as JsonObject),
});
