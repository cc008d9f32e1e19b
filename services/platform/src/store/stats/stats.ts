// Samples of the whole system at regular times, for people and plots. Nothing decides by them.
//
// Race: several schedulers take the sample of one interval. The row of all types has a key for each interval, by the clock of the database, and
// the statement that inserts it also inserts the rows of the types. So one sample is kept whole, and the others change nothing.

import { number, orNull, text, time, uuid } from "../../db/columns.ts";
import type { Typed } from "../../db/query.ts";

/** What is counted of a node type, and of all together. */
const LOAD = {
  /** The slots of live executors that serve the type. */
  slots: number(),
  active: number(),
  waiting: number(),
  /** The longest and the median wait of due nodes. Null if none is due. */
  oldestMs: orNull(number()),
  medianMs: orNull(number()),
};
export const TYPE_LOAD = { nodeType: text(), ...LOAD };
/** Only of all types together. */
export const RUN_LOAD = {
  runsPending: number(),
  runsRunning: number(),
  pendingOldestMs: orNull(number()),
  pendingMedianMs: orNull(number()),
};
export const TOTAL_LOAD = { ...LOAD, ...RUN_LOAD };

export type TypeLoad = Typed<typeof TYPE_LOAD>;
type TotalLoad = Typed<typeof TOTAL_LOAD>;

export interface Sample {
  readonly total: TotalLoad;
  /** Types with something to count. */
  readonly types: readonly TypeLoad[];
}

export const POOL = {
  /** `connections` to the database, or standing `streams`. */
  kind: text<"connections" | "streams">(),
  pool: text(),
  /** How many there may be. */
  size: number(),
  inUse: number(),
  /** How many are open and not in use. */
  idle: number(),
};
export type PoolLoad = Typed<typeof POOL>;

export const PROCESS = { processId: uuid(), service: text<"scheduler" | "gateway">() };
export type ProcessName = Typed<typeof PROCESS>;
export const PROCESS_POOL = { ...PROCESS, ...POOL };
export type ProcessPool = Typed<typeof PROCESS_POOL>;

/** The newest sample, and the pools of the processes that reported since the sample before it. */
export interface NewestStats extends Sample {
  readonly takenAt: number;
  readonly pools: readonly ProcessPool[];
}

/** The samples of one step: the largest of each number. */
export const POINT = {
  at: time(),
  ...LOAD,
  ...{ runsPending: orNull(number()), runsRunning: orNull(number()) },
  ...{ pendingOldestMs: orNull(number()), pendingMedianMs: orNull(number()) },
};
export interface StatPoint extends Typed<typeof POINT> {
  /** Database connections of all processes. */
  readonly connections: number;
  readonly connectionsInUse: number;
}

export interface PointQuestion {
  /** Empty for all types together. */
  readonly nodeType: string;
  readonly rangeMs: number;
  readonly stepMs: number;
}

/** The present interval by the clock of the database. */
interface DueSample {
  /** Whether no scheduler has taken its sample. */
  readonly isMissing: boolean;
  readonly nextInMs: number;
}

export interface Stats {
  due(intervalMs: number): Promise<DueSample>;
  /** Keeps the sample of the present interval. False if it is kept already. */
  put(intervalMs: number, sample: Sample): Promise<boolean>;
  /** Keeps the pools of a process for the present interval. A repeat changes nothing. */
  putPools(intervalMs: number, process: ProcessName, pools: readonly PoolLoad[]): Promise<void>;
  /** Deletes samples that are older than this. Returns whether there may be more. */
  forget(olderThanMs: number, limit: number): Promise<boolean>;
}
