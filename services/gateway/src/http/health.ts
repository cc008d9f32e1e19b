// Whether this gateway can serve: one answer for /readyz and for grpc.health.v1. It can if the database answers and has the current
// schema, and a scheduler is connected whose commits succeed. A gateway that drains cannot.

import { create, type DescService } from "@bufbuild/protobuf";
import type { ServiceImpl } from "@connectrpc/connect";
import { EngineError } from "@pawl/core/fault/engine-error";
import { watchDurability } from "@pawl/platform/db/durability";
import { isCurrent } from "@pawl/platform/db/migrate";
import type { Pool } from "@pawl/platform/db/pool";
import { pause } from "@pawl/platform/lifecycle/backoff";
import { ReadyNotes } from "@pawl/platform/lifecycle/ready-notes";
import type { Logger } from "@pawl/platform/telemetry/log";
import {
  HealthCheckResponse_ServingStatus as Serving,
  HealthCheckResponseSchema,
  HealthListResponseSchema,
  type Health,
} from "@pawl/proto/grpc/health/v1/health_pb";
import type { Scheduler } from "../request/forward.ts";

/** How long an answer is reused, because many probes come at once. */
const FRESH_MS = 500;
const WATCH_MS = 1_000;
const PROBE_MS = 1_000;

/** Why the gateway cannot serve now. Undefined if it can. */
type NotReady = () => Promise<string | undefined>;

/** Watches the database and the schedulers. `notes` are for the operator. */
export function watchReady(pool: Pool, scheduler: Scheduler, log: Logger) {
  const notes = new ReadyNotes();
  const durability = watchDurability(pool, { notes, log });
  let isDraining = false;
  let answer: ReturnType<NotReady> | undefined;
  let askedAt = 0;
  const check: NotReady = async () => {
    await durability.look();
    const isSchemaCurrent = await isCurrent(pool);
    if (!isSchemaCurrent) return "the database schema is not current";
    await scheduler.waitForReady(PROBE_MS);
    // One scheduler that can commit is enough.
    const failures = (await scheduler.standings.ask()).map(({ storeFailure }) => storeFailure);
    return failures.includes("") ? undefined : failures[0];
  };
  const notReady: NotReady = async () => {
    if (isDraining) return "draining";
    if (answer === undefined || performance.now() - askedAt > FRESH_MS) {
      askedAt = performance.now();
      answer = check().catch(whyOf);
    }
    return await answer;
  };
  void durability.look();
  /** From now on the gateway is not ready. */
  const drain = (): void => {
    isDraining = true;
    durability.stop();
  };
  return { notes, notReady, drain };
}

/** The message of the database explains its failure; for a scheduler the reason is enough. */
function whyOf(error: unknown): string {
  if (!(error instanceof EngineError)) return "the check failed";
  return error.reason === "STORE_UNAVAILABLE" ? `${error.reason}: ${error.message}` : error.reason;
}

/** grpc.health.v1 for "" and each of `services`. */
export function createHealth(
  notReady: NotReady,
  services: readonly DescService[],
): ServiceImpl<typeof Health> {
  const names: ReadonlySet<string> = new Set(["", ...services.map(({ typeName }) => typeName)]);
  const current = async (): Promise<Serving> =>
    (await notReady()) === undefined ? Serving.SERVING : Serving.NOT_SERVING;
  return {
    check: async ({ service }) => {
      if (names.has(service)) return create(HealthCheckResponseSchema, { status: await current() });
      throw new EngineError("SERVICE_NOT_FOUND", `This server has no service ${service}.`, {
        metadata: { service },
      });
    },
    list: async () => {
      const status = create(HealthCheckResponseSchema, { status: await current() });
      const statuses = Object.fromEntries([...names].map((name) => [name, status]));
      return create(HealthListResponseSchema, { statuses });
    },
    watch: async function* ({ service }, { signal }) {
      let last: Serving | undefined;
      while (!signal.aborted) {
        const status = names.has(service) ? await current() : Serving.SERVICE_UNKNOWN;
        if (status !== last) yield create(HealthCheckResponseSchema, { status });
        last = status;
        await pause(WATCH_MS, signal);
      }
    },
  };
}
