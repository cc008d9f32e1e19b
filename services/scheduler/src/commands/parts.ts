// What every command needs: the loop that it submits its input to, and the stores that it reads.

import type { Journal } from "@pawl/platform/store/tick/journal";
import type { Workflows } from "@pawl/platform/store/workflows/workflows";
import type { Definitions } from "../commit/definitions.ts";
import type { TickLoop } from "../tick/loop.ts";
import type { Newest } from "./newest.ts";

export interface AdmitParts {
  readonly loop: TickLoop;
  readonly journal: Journal;
  readonly workflows: Workflows;
  readonly definitions: Definitions;
  readonly newest: Newest;
  readonly now: () => number;
  /** Makes sure that queues exist for the node types of a definition. */
  readonly ensureQueues: (nodeTypes: readonly string[]) => Promise<void>;
}
