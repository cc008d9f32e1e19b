// The needs of a suite on a store: its seams, a second writer, and a view of the committed rows.

import type { DeadLetters } from "@pawl/platform/store/dead-letters/dead-letters";
import type { Executors } from "@pawl/platform/store/leases/leases";
import type { Journal } from "@pawl/platform/store/tick/journal";
import type { NodeTypes } from "@pawl/platform/store/node-types/node-types";
import type { Pauses } from "@pawl/platform/store/pauses/pauses";
import type { Schedules } from "@pawl/platform/store/schedules/schedules";
import type { Recovery } from "@pawl/platform/store/recovery/recovery";
import type { Webhooks } from "@pawl/platform/store/webhooks/webhooks";
import type { ValueRows } from "@pawl/platform/store/values/values";
import type { Queryable } from "@pawl/platform/db/query";
import type { Assistants } from "@pawl/platform/store/assistants/assistants";
import type { Threads } from "@pawl/platform/store/threads/threads";
import type { Workflows } from "@pawl/platform/store/workflows/workflows";
import type { SlotQuestion, SlotWait } from "@pawl/core/explain/room";
import type { RunId } from "@pawl/core/name/ids";

export interface SeenRun {
  readonly status: string;
  readonly version: number;
  readonly lastSeq: number;
  readonly hasFailures: boolean;
  readonly errorMessage: string | null;
  readonly failureClass: string | null;
  readonly hasEnded: boolean;
}

export interface SeenEvent {
  readonly seq: number;
  readonly type: string;
  readonly nodeId: string;
  readonly iteration: number;
  readonly attempt: number;
  readonly epoch: number;
  readonly payload: unknown;
  /** The user's JSON, parsed: stores may write the same value with other spaces. */
  readonly value: unknown;
}

export interface SeenLease {
  readonly nodeId: string;
  readonly iteration: number;
  readonly epoch: number;
  readonly attempt: number;
  readonly executorId: string;
}

export interface SeenEffect {
  readonly nodeId: string;
  readonly iteration: number;
  readonly name: string;
  readonly class: string;
  readonly begunEpoch: number;
  readonly committedEpoch: number | null;
  /** Parsed, as values of events are. */
  readonly result: unknown;
}

/** Committed rows of one run. */
export interface Seen {
  readonly run: SeenRun | undefined;
  readonly events: readonly SeenEvent[];
  readonly leases: readonly SeenLease[];
  readonly effects: readonly SeenEffect[];
}

export interface StoreUnderTest {
  readonly journal: Journal;
  /** A writer of its own on the same store, as a second scheduler is. */
  readonly rival: Journal;
  readonly executors: Executors;
  readonly workflows: Workflows;
  readonly schedules: Schedules;
  readonly recovery: Recovery;
  readonly deadLetters: DeadLetters;
  readonly nodeTypes: NodeTypes;
  readonly pauses: Pauses;
  readonly webhooks: Webhooks;
  readonly valueRows: ValueRows;
  /** The database; undefined in memory. */
  readonly db: Queryable | undefined;
  readonly assistants: Assistants;
  readonly threads: Threads;
  /** Takes an event out of a log without any scheduler's knowledge; call the answer to put it back. */
  readonly loseEvent: (runId: RunId, seq: number) => Promise<() => Promise<void>>;
  /** Puts an event after the end of a run's log without any scheduler's knowledge; call the answer to take it away. */
  readonly strayEvent: (runId: RunId) => Promise<() => Promise<void>>;
  /** Takes a run's waiting jobs out of the queues without any scheduler's knowledge. */
  readonly loseJobs: (runId: RunId) => Promise<void>;
  /** Makes queues for node types; the store may need them before jobs. */
  readonly prepare: (nodeTypes: readonly string[]) => Promise<void>;
  readonly see: (runId: RunId) => Promise<Seen>;
  /** Which executions of a run wait for slots, as explanations read it. */
  readonly slotWaits: (runId: RunId, asked: readonly SlotQuestion[]) => Promise<SlotWait[]>;
  /** Ids of the executors known, in order. */
  readonly executorIds: () => Promise<string[]>;
  readonly close: () => Promise<void>;
}

export type OpenStore = () => Promise<StoreUnderTest>;
