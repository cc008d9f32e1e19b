// The options of a queue worker, with their defaults. The worker reports every option that is missing or out of range at once, before it
// starts.

import { EngineError, type FieldViolation } from "@pawl/core/fault/engine-error";
import { systemTimers, type Timers } from "../lifecycle/timers.ts";
import type { ClaimedJob, WorkflowQueue } from "./workflow-queue.ts";

/**
 * How the run of a job ended. `waiting` pauses the job until a person has decided. `interrupted` means that the run stopped on request, and
 * gives the job back for another worker. The other statuses end the job.
 */
export type RestStatus =
  | "completed"
  | "failed"
  | "cancelled"
  | "timeout"
  | "waiting"
  | "interrupted";

/** The stores that a run reads and writes. */
interface RunnerOptions<Persistence, EventLog> {
  readonly persistence: Persistence;
  readonly eventLog: EventLog;
}

export interface RunnerSignals {
  /** Aborted when the runner should finish the current node, save its result, and return. */
  readonly finish: AbortSignal;
  /** Aborted when the runner must stop at once: the worker stops, or another worker has the claim. */
  readonly abort: AbortSignal;
}

interface Counts {
  /** Jobs at the same time; default 1. */
  readonly concurrency: number;
  /** How often the worker polls, besides hints; default 1 s. */
  readonly pollIntervalMs: number;
  /** How often the worker renews its claims; default 1 min. */
  readonly heartbeatIntervalMs: number;
  /** How often the worker takes back jobs of dead workers; default 30 s. */
  readonly reclaimIntervalMs: number;
  /** How long jobs may run after `stop`; default 30 s. */
  readonly shutdownGracePeriodMs: number;
  /** How long an aborted job may take to end. After that its claim ends. Default 5 s. */
  readonly abortSettleMs: number;
}

export interface QueueWorkerOptions<Persistence, EventLog>
  extends RunnerOptions<Persistence, EventLog>, Partial<Counts> {
  /** Default: a random UUID. */
  readonly workerId?: string;
  readonly queue: WorkflowQueue;
  /** Runs a job to its end. A throw is a failed attempt. A throw of STALE_CLAIM is a lost claim. */
  readonly run: (
    job: ClaimedJob,
    options: RunnerOptions<Persistence, EventLog>,
    signals: RunnerSignals,
  ) => Promise<RestStatus>;
  /** Stores for one job, such as writers that its epoch fences. They replace the worker's own. */
  readonly runnerOptionsFactory?: (
    job: ClaimedJob,
  ) =>
    | Partial<RunnerOptions<Persistence, EventLog>>
    | Promise<Partial<RunnerOptions<Persistence, EventLog>>>;
  /** How long a job waits after its nth failure; default 0. */
  readonly retryDelayMs?: (error: unknown, failures: number) => number;
  readonly timers?: Timers;
  /** Called for faults of the queue itself. The worker continues. */
  readonly onError?: (error: unknown) => void;
}

const COUNTS: Readonly<Record<keyof Counts, { readonly preset: number; readonly min: number }>> = {
  concurrency: { preset: 1, min: 1 },
  pollIntervalMs: { preset: 1_000, min: 1 },
  heartbeatIntervalMs: { preset: 60_000, min: 1 },
  reclaimIntervalMs: { preset: 30_000, min: 1 },
  shutdownGracePeriodMs: { preset: 30_000, min: 0 },
  abortSettleMs: { preset: 5_000, min: 0 },
};
// A literal table has exactly its declared keys.
const COUNT_NAMES = Object.keys(COUNTS) as (keyof Counts)[];
const REQUIRED = ["queue", "persistence", "eventLog", "run"] as const;

type Optional = "runnerOptionsFactory";
export type WorkerSettings<Persistence, EventLog> = Required<
  Omit<QueueWorkerOptions<Persistence, EventLog>, Optional>
> &
  Pick<QueueWorkerOptions<Persistence, EventLog>, Optional>;

/** Options with their defaults. @throws INPUT_INVALID naming every option that is missing or out of range */
export function checkWorkerOptions<Persistence, EventLog>(
  options: QueueWorkerOptions<Persistence, EventLog>,
): WorkerSettings<Persistence, EventLog> {
  const missing = REQUIRED.filter((name) => options[name] === undefined || options[name] === null);
  const counts = COUNT_NAMES.map((name) => [name, options[name] ?? COUNTS[name].preset] as const);
  const odd = counts.filter(([name, n]) => !Number.isSafeInteger(n) || n < COUNTS[name].min);
  const violations: FieldViolation[] = [
    ...missing.map((field) => ({ field, reason: "REQUIRED", description: "is required" })),
    ...odd.map(([field]) => ({
      field,
      reason: "OUT_OF_RANGE",
      description: `must be a whole number from ${COUNTS[field].min}`,
    })),
  ];
  if (violations.length > 0) {
    const words = violations.map(({ field, description }) => `${field} ${description}`).join("; ");
    throw new EngineError("INPUT_INVALID", `The worker cannot start: ${words}.`, {
      metadata: { field: violations[0]?.field ?? "" },
      violations,
    });
  }
  return {
    timers: systemTimers,
    retryDelayMs: () => 0,
    onError: () => undefined,
    ...options,
    workerId: options.workerId ?? crypto.randomUUID(),
    ...(Object.fromEntries(counts) as Record<keyof Counts, number>),
  };
}
