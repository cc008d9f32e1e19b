// One round of the planner with the reservations that it makes.

import type { Funds } from "./funds.ts";
import type { Round } from "./inline.ts";

export interface Planning extends Round {
  readonly funds: Funds;
}
