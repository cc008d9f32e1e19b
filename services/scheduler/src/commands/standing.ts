// Facts that only the memory of this scheduler holds. Gateways ask for them to explain a node and to answer readiness probes.

import { serve, type ServedService } from "@pawl/platform/rpc/implementation";
import { runIdOf } from "@pawl/platform/wire/fields";
import { StandingService } from "@pawl/proto/pawl/command/v1/command_service_pb";
import type { TickLoop } from "../tick/loop.ts";
import type { StoreHealth } from "../tick/store-health.ts";

/** Results listed for one run. A wide map may have thousands. */
const RESULTS_MAX = 1_000;

export const standingService = ({
  loop,
  health,
}: {
  readonly loop: Pick<TickLoop, "unsettled">;
  readonly health: StoreHealth;
}): ServedService =>
  serve(StandingService, {
    getStanding: async ({ runId }) => ({
      storeFailure: health.failure?.message ?? "",
      unsettledResults: (runId === "" ? [] : loop.unsettled(runIdOf(runId)))
        .slice(0, RESULTS_MAX)
        .map(({ claim: { nodeId, iteration, epoch }, reason }) => ({
          nodeId,
          iteration,
          epoch: BigInt(epoch),
          reason,
        })),
    }),
  });
