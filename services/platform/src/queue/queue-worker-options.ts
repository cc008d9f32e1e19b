// What a queue worker is made of, with its defaults. What is missing or out of range is said all at once, before anything starts.

import { EngineError, type FieldViolation } from "@pawl/core/fault/engine-error";
import { systemTimers, type Timers } from "../lifecycle/timers.ts";
import type { ClaimedJob, WorkflowQueue } from "./workflow-queue.ts";

/**
 * How a run came to rest. The terminal ones end the job; `waiting` pauses it until a person has spoken; `interrupted` says
 * that it was asked to stop on the way, and leaves the job to whoever comes next.
 */
export type RestStatus =
  | "completed"
  | "failed"
  | "cancelled"
  | "timeout"
  | "waiting"
  | "interrupted";

/** What a run is given to read and write with. */
export interface RunnerOptions<Persistence, EventLog> {
  readonly persistence: Persistence;
  readonly eventLog: EventLog;
}

export interface RunnerSignals {
  /** Finish the node at hand, keep what was done, and rest. */
  readonly finish: AbortSignal;
  /** Give up at once: the worker goes, or the claim is somebody else's. */
  readonly abort: AbortSignal;
}

export interface QueueWorkerOptions<Persistence, EventLog> {
  /** A random UUID unless given. */
  readonly workerId?: string;
  readonly queue: WorkflowQueue;
  readonly persistence: Persistence;
  readonly eventLog: EventLog;
  /** Runs a job until it rests. What it throws counts as a failed attempt, a STALE_CLAIM as a lost claim. */
  readonly run: (
    job: ClaimedJob,
    options: RunnerOptions<Persistence, EventLog>,
    signals: RunnerSignals,
  ) => Promise<RestStatus>;
  /** Writers for one job, fenced by its epoch for example; they take the place of the worker's own. */
  readonly runnerOptionsFactory?: (
    job: ClaimedJob,
  ) =>
    | Partial<RunnerOptions<Persistence, EventLog>>
    | Promise<Partial<RunnerOptions<Persistence, EventLog>>>;
  /** Jobs at once: 1 unless given. */
  readonly concurrency?: number;
  /** How often it looks for jobs, hints aside: each second unless given. */
  readonly pollIntervalMs?: number;
  /** How often claims are renewed: each minute unless given. */
  readonly heartbeatIntervalMs?: number;
  /** How often it takes back what dead workers held: each 30 s unless given. */
  readonly reclaimIntervalMs?: number;
  /** How long jobs may go on once it is asked to stop: 30 s unless given. */
  readonly shutdownGracePeriodMs?: number;
  /** How long an aborted job may take to rest before it is left to its claim's expiry: 5 s unless given. */
  readonly abortSettleMs?: number;
  /** How long a job waits after its nth failure; not at all unless given. */
  readonly retryDelayMs?: (error: unknown, failures: number) => number;
  readonly timers?: Timers;
  /** Faults of the queue itself; the worker goes on. */
  readonly onError?: (error: unknown) => void;
}

const COUNTS = {
  concurrency: { fallback: 1, min: 1 },
  pollIntervalMs: { fallback: 1_000, min: 1 },
  heartbeatIntervalMs: { fallback: 60_000, min: 1 },
  reclaimIntervalMs: { fallback: 30_000, min: 1 },
  shutdownGracePeriodMs: { fallback: 30_000, min: 0 },
  abortSettleMs: { fallback: 5_000, min: 0 },
} as const;
type CountName = keyof typeof COUNTS;
const COUNT_NAMES = Object.keys(COUNTS) as CountName[];
const REQUIRED = ["queue", "persistence", "eventLog", "run"] as const;

export type WorkerSettings<Persistence, EventLog> = Required<
  Omit<QueueWorkerOptions<Persistence, EventLog>, "runnerOptionsFactory">
> &
  Pick<QueueWorkerOptions<Persistence, EventLog>, "runnerOptionsFactory">;

/** Options with their defaults. @throws INPUT_INVALID naming every option that is missing or out of range */
export function checkWorkerOptions<Persistence, EventLog>(
  options: QueueWorkerOptions<Persistence, EventLog>,
): WorkerSettings<Persistence, EventLog> {
  const missing = REQUIRED.filter((name) => options[name] === undefined || options[name] === null);
  const odd = COUNT_NAMES.filter((name) => !isCount(options[name], COUNTS[name].min));
  const violations: FieldViolation[] = [
    ...missing.map((field) => ({ field, reason: "REQUIRED", description: "is required" })),
    ...odd.map((field) => ({
      field,
      reason: "OUT_OF_RANGE",
      description: `must be a whole number from ${COUNTS[field].min}`,
    })),
  ];
  if (violations.length > 0) throw optionsFault(violations);
  const counts = COUNT_NAMES.map((name) => [name, options[name] ?? COUNTS[name].fallback]);
  return {
    timers: systemTimers,
    retryDelayMs: () => 0,
    onError: () => undefined,
    ...options,
    workerId: options.workerId ?? crypto.randomUUID(),
    ...(Object.fromEntries(counts) as Record<CountName, number>),
  };
}

const isCount = (value: number | undefined, min: number): boolean =>
  value === undefined || (Number.isSafeInteger(value) && value >= min);

function optionsFault(violations: readonly FieldViolation[]): EngineError {
  const words = violations.map(({ field, description }) => `${field} ${description}`).join("; ");
  return new EngineError("INPUT_INVALID", `The worker cannot start: ${words}.`, {
    metadata: { field: violations[0]?.field ?? "" },
    violations,
  });
}
