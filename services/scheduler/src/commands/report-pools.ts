// Keeps the pools that gateways report, because a gateway writes nothing to the database.

import { serve, type ServedService } from "@pawl/platform/rpc/implementation";
import type { Stats } from "@pawl/platform/store/stats/stats";
import { parsePools } from "@pawl/platform/wire/stats";
import { StatsService } from "@pawl/proto/pawl/command/v1/command_service_pb";

export interface StatsServiceParts {
  readonly stats: Pick<Stats, "putPools">;
  readonly statsMs: number;
}

export const statsService = ({ stats, statsMs }: StatsServiceParts): ServedService =>
  serve(StatsService, {
    reportPools: async (request) => {
      const { processId, pools } = parsePools(request);
      await stats.putPools(statsMs, { processId, service: "gateway" }, pools);
      return {};
    },
  });
