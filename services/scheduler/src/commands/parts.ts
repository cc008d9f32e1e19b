// The parts that every command needs: the loop for its input, and the stores for its reads.

import type { EgressPolicy } from "@pawl/platform/egress/url";
import type { PriceOf } from "@pawl/core/policy/price";
import type { Assistants } from "@pawl/platform/store/assistants/assistants";
import type { Threads } from "@pawl/platform/store/threads/threads";
import type { Journal } from "@pawl/platform/store/tick/journal";
import type { Webhooks } from "@pawl/platform/store/webhooks/webhooks";
import type { Workflows } from "@pawl/platform/store/workflows/workflows";
import type { ValueStore } from "@pawl/platform/values/value-store";
import type { Definitions } from "../commit/definitions.ts";
import type { TickLoop } from "../tick/loop.ts";
import type { Newest } from "./newest.ts";

export interface AdmitParts {
  readonly loop: TickLoop;
  readonly journal: Journal;
  readonly workflows: Workflows;
  readonly assistants: Pick<Assistants, "find">;
  readonly threads: Pick<Threads, "find">;
  readonly definitions: Definitions;
  readonly newest: Newest;
  readonly now: () => number;
  readonly webhooks: Pick<Webhooks, "find">;
  /** The addresses that webhooks may lead to. Executors check them again when they call. */
  readonly egress: EgressPolicy;
  readonly priceOf?: PriceOf;
  readonly values: ValueStore;
  /** Creates missing queues for the node types of a definition. */
  readonly ensureQueues: (nodeTypes: readonly string[]) => Promise<void>;
}
