// The amounts of a budget as authors write them become whole numbers: dollars become micro-dollars.

import { microsOf, type SomeAmounts } from "../policy/budget.ts";

interface AuthoredAmounts {
  readonly tokens?: number | undefined;
  readonly cost_usd?: number | undefined;
  readonly node_executions?: number | undefined;
}

export function amountsOf(raw: AuthoredAmounts): SomeAmounts {
  const { tokens, cost_usd: usd, node_executions: executions } = raw;
  return {
    ...(tokens === undefined ? {} : { tokens }),
    ...(usd === undefined ? {} : { costMicros: microsOf(usd) }),
    ...(executions === undefined ? {} : { executions }),
  };
}
