// Runs that tests of filters write, as rows and as the evaluator reads them.
import type { FilterableRun } from "@pawl/core/filter/evaluate";
import { parseFilter } from "@pawl/core/filter/parse";
import { RUN_FIELDS } from "@pawl/core/filter/run-fields";
import { type TypedFilter, typeFilter } from "@pawl/core/filter/typed";
import { type RunId, runId } from "@pawl/core/name/ids";
import type { Pool } from "../../db/pool.ts";

export const TENANT = "t";
export const EPOCH = Date.parse("2026-11-01T00:00:00Z");

export interface MadeRun {
  readonly status: string;
  readonly stop: string | null;
  readonly workflow: string | null;
  readonly version: number;
  readonly kind: string;
  readonly schedule: string | null;
  readonly thread: string | null;
  readonly priority: number;
  readonly has_failures: boolean;
  readonly error: string | null;
  readonly failure_class: string | null;
  readonly create_time: number;
  /** From the start to the end, in milliseconds. */
  readonly took: number;
  readonly metadata: object | null;
  readonly input: unknown;
}

export const idOf = (n: number): RunId =>
  runId(`0198c0de-0000-7000-8000-${String(n).padStart(12, "0")}`);
const isLive = ({ status }: MadeRun): boolean => ["pending", "running", "waiting"].includes(status);

const stopOf = ({ status, stop }: MadeRun): string | null => (status === "cancelled" ? stop : null);

/** Puts runs in the place of those of the last round. */
export async function insertRuns(pool: Pool, runs: readonly MadeRun[]): Promise<void> {
  await pool.query({ text: "truncate runs, run_metadata, run_events" });
  for (const [at, run] of runs.entries()) {
    const id = idOf(at);
    const endedAt = isLive(run) ? null : new Date(run.create_time + run.took);
    await pool.query({
      text: "insert into runs select * from json_populate_record(null::runs, $1)",
      values: [JSON.stringify(rowOf(run, id, endedAt))],
    });
    await pool.query({
      text: `insert into run_events (run_id, seq, type, node_id, iteration, attempt, epoch, ordinal, payload, value)
        values ($1, 1, 'run.started', '', 0, 0, 0, 0, '{}', $2)`,
      values: [id, JSON.stringify(run.input)],
    });
    if (run.metadata !== null)
      await pool.query({
        text: "insert into run_metadata (run_id, metadata) values ($1, $2)",
        values: [id, JSON.stringify(run.metadata)],
      });
  }
}

const rowOf = (run: MadeRun, id: RunId, endedAt: Date | null) => ({
  ...{ run_id: id, tenant_id: TENANT, definition_id: id, version: 1, last_seq: 1 },
  ...{ workflow_id: run.workflow, workflow_version: run.version, kind: run.kind },
  ...{ status: run.status, stop: stopOf(run) },
  ...{ has_failures: run.has_failures, priority: run.priority, error_message: run.error },
  ...{ created_at: new Date(run.create_time), ended_at: endedAt, deadline_at: new Date() },
  ...{ schedule_id: run.schedule, thread_id: run.thread, failure_class: run.failure_class },
});

/** The run as the evaluator reads it. */
export function filterable(run: MadeRun): FilterableRun {
  const { took, input, ...rest } = run;
  const ended = isLive(run) ? null : run.create_time + took;
  const isReadable = !JSON.stringify(input).includes(String.raw`\u0000`);
  return {
    ...rest,
    stop: stopOf(run),
    input: isReadable ? input : null,
    is_live: ended === null,
    end_time: ended,
    duration: ended === null ? Date.now() - run.create_time : took,
  };
}

export function typedOf(text: string): TypedFilter {
  const read = parseFilter(text);
  const typed = read.ok ? typeFilter(text, read.made, RUN_FIELDS) : read;
  if (!typed.ok) throw new Error(`${text}: ${typed.fault.message}`);
  return typed.made;
}
