// Samples of the system on the wire.

import type { MessageInitShape } from "@bufbuild/protobuf";
import type { Duration } from "@bufbuild/protobuf/wkt";
import { invalidField } from "@pawl/core/fault/engine-error";
import type { Pool, ReportPoolsRequest } from "@pawl/proto/pawl/command/v1/command_service_pb";
import type {
  GetQueueStatsRequest,
  GetQueueStatsResponseSchema,
  QueueStatsSchema,
} from "@pawl/proto/pawl/v1/queue_service_pb";
import type { NewestStats, PointQuestion, PoolLoad, StatPoint } from "../store/stats/stats.ts";
import { durationMsOf, lineOf, rangeOf, typeNameOf, uuidOf } from "./fields.ts";
import { toTimestamp } from "./scalar.ts";

const RANGE_MS = 3_600_000;
const RANGE_MS_MAX = 31 * 24 * 3_600_000;
const POINTS = 60;
const POINTS_MAX = 1_000;
const STEP_MS_MIN = 1_000;
const POOLS_MAX = 16;
const COUNT_MAX = 1_000_000;

/** @throws INPUT_INVALID */
export function parseStatsQuestion(request: GetQueueStatsRequest): PointQuestion {
  const { nodeType, range, step } = request;
  const rangeMs = durationMsOf("range", range, RANGE_MS_MAX) ?? RANGE_MS;
  const least = Math.max(STEP_MS_MIN, Math.ceil(rangeMs / POINTS));
  const stepMs = durationMsOf("step", step, RANGE_MS_MAX) ?? least;
  if (rangeMs / stepMs > POINTS_MAX)
    throw invalidField("step", "OUT_OF_RANGE", `makes more than ${POINTS_MAX} points`);
  return { nodeType: nodeType === "" ? "" : typeNameOf(nodeType), rangeMs, stepMs };
}

type Load = Omit<StatPoint, "connections" | "connectionsInUse" | "at"> & {
  readonly connections?: number;
  readonly connectionsInUse?: number;
};

function toWireStats(
  at: number,
  nodeType: string,
  load: Load,
): MessageInitShape<typeof QueueStatsSchema> {
  const { slots, active, waiting, oldestMs, medianMs } = load;
  return {
    ...{ nodeType, slots, active, waiting },
    time: toTimestamp(at),
    available: Math.max(0, slots - active),
    ...ms("oldestMs", oldestMs),
    ...ms("medianMs", medianMs),
    runsPending: load.runsPending ?? 0,
    runsRunning: load.runsRunning ?? 0,
    ...ms("pendingOldestMs", load.pendingOldestMs),
    ...ms("pendingMedianMs", load.pendingMedianMs),
    connections: load.connections ?? 0,
    connectionsInUse: load.connectionsInUse ?? 0,
  };
}

const ms = <Name extends string>(name: Name, value: number | null) =>
  value === null ? {} : ({ [name]: BigInt(Math.max(0, value)) } as Record<Name, bigint>);

const NO_RUNS = {
  runsPending: null,
  runsRunning: null,
  pendingOldestMs: null,
  pendingMedianMs: null,
};

/** The answer: the newest sample, and the points of the question. */
export function toWireQueueStats(
  { nodeType, stepMs }: PointQuestion,
  newest: NewestStats | undefined,
  points: readonly StatPoint[],
): MessageInitShape<typeof GetQueueStatsResponseSchema> {
  const { takenAt = 0, total, types = [], pools = [] } = newest ?? {};
  const open = pools.filter(({ kind }) => kind === "connections");
  const connections = open.reduce((sum, { size }) => sum + size, 0);
  const connectionsInUse = open.reduce((sum, { inUse }) => sum + inUse, 0);
  return {
    ...(total && { total: toWireStats(takenAt, "", { ...total, connections, connectionsInUse }) }),
    queues: types.map((type) => toWireStats(takenAt, type.nodeType, { ...type, ...NO_RUNS })),
    pools: pools.map((pool) => ({ ...pool })),
    points: points.map((point) => toWireStats(point.at, nodeType, point)),
    step: durationOf(stepMs),
  };
}

const durationOf = (totalMs: number): Pick<Duration, "seconds" | "nanos"> => ({
  seconds: BigInt(Math.floor(totalMs / 1_000)),
  nanos: (totalMs % 1_000) * 1_000_000,
});

/** The pools that a gateway reports. @throws INPUT_INVALID */
export function parsePools({ processId, pools }: ReportPoolsRequest) {
  if (pools.length > POOLS_MAX)
    throw invalidField("pools", "TOO_MANY", `has more than ${POOLS_MAX} pools`);
  return { processId: uuidOf("process_id", processId), pools: pools.map(poolOf) };
}

function poolOf({ name, hasStreams, size, inUse, idle }: Pool): PoolLoad {
  const kind = hasStreams ? "streams" : "connections";
  const counted = { size, inUse, idle };
  for (const [field, count] of Object.entries(counted))
    rangeOf(`pools.${field}`, count, 0, COUNT_MAX);
  return { kind, pool: lineOf("pools.name", name), ...counted };
}
