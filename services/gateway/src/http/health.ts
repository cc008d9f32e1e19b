// Whether this gateway serves: one answer for /readyz and for grpc.health.v1. It serves when the database answers and has our schema and
// a scheduler is connected; a gateway that drains says at once that it does not.

import { create, type DescService } from "@bufbuild/protobuf";
import { type ServiceImpl } from "@connectrpc/connect";
import { EngineError } from "@pawl/core/fault/engine-error";
import { pause } from "@pawl/platform/lifecycle/backoff";
import {
  HealthCheckResponse_ServingStatus as Serving,
  HealthCheckResponseSchema,
  HealthListResponseSchema,
  type Health,
} from "@pawl/proto/grpc/health/v1/health_pb";

/** An answer is good for this long; probes come in flocks. */
const FRESH_MS = 500;
const WATCH_MS = 1_000;

export class Readiness {
  readonly #check: () => Promise<string | undefined>;
  #answer: Promise<string | undefined> | undefined;
  #askedAt = 0;
  #isDraining = false;

  /** `check` says why the gateway cannot serve now, or undefined when it can; it may throw. */
  constructor(check: () => Promise<string | undefined>) {
    this.#check = check;
  }

  /** From now on it does not serve. */
  drain(): void {
    this.#isDraining = true;
  }

  /** Why it cannot serve now, or undefined when it can. */
  async notReady(): Promise<string | undefined> {
    if (this.#isDraining) return "draining";
    if (this.#answer === undefined || performance.now() - this.#askedAt > FRESH_MS) {
      this.#askedAt = performance.now();
      this.#answer = this.#check().catch(whyOf);
    }
    return this.#answer;
  }
}

/** A database says what is the matter with it; of a scheduler the reason tells all. */
function whyOf(error: unknown): string {
  if (!(error instanceof EngineError)) return "the check failed";
  return error.reason === "STORE_UNAVAILABLE" ? `${error.reason}: ${error.message}` : error.reason;
}

/** grpc.health.v1 for "" and each of `services`. */
export function createHealth(
  readiness: Readiness,
  services: readonly DescService[],
): ServiceImpl<typeof Health> {
  const names: ReadonlySet<string> = new Set(["", ...services.map(({ typeName }) => typeName)]);
  const current = async (): Promise<Serving> =>
    (await readiness.notReady()) === undefined ? Serving.SERVING : Serving.NOT_SERVING;
  return {
    check: async ({ service }) => {
      if (!names.has(service)) {
        throw new EngineError("SERVICE_NOT_FOUND", `This server has no service ${service}.`, {
          metadata: { service },
        });
      }
      return create(HealthCheckResponseSchema, { status: await current() });
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
