// Limits of the wire as limits of the log.

import type { Limits, LimitScope } from "@pawl/core/policy/limit";
import type { Limit } from "@pawl/proto/pawl/v1/event_pb";

interface WireLimits {
  readonly slot?: Limit | undefined;
  readonly rate?: Limit | undefined;
}

export const limitsOf = ({ slot, rate }: WireLimits): Limits => ({
  ...(slot === undefined ? {} : { slot: limitOf(slot) }),
  ...(rate === undefined ? {} : { rate: { ...limitOf(rate), perMs: Number(rate.perMs) } }),
});

const limitOf = ({ key, limit, scope }: Limit) => ({ key, limit, scope: scope as LimitScope });
