// The store without a database: for a single process, for tests and for simulation with its own clock. The suites of test/conformance check
// that it behaves like PostgreSQL.

import type { SlotQuestion } from "@pawl/core/explain/room";
import type { RunId } from "@pawl/core/name/ids";
import { createMemoryDeadLetters } from "../dead-letters/memory.ts";
import { createMemoryExecutors } from "../leases/memory.ts";
import { createMemoryNodeTypes } from "../node-types/memory.ts";
import { createMemoryPauses } from "../pauses/memory.ts";
import { createMemoryRecovery } from "../recovery/memory.ts";
import { createMemorySchedules } from "../schedules/memory.ts";
import { readMemorySlotWaits } from "../slots/memory.ts";
import type { News } from "../tick/journal.ts";
import { createMemoryJournal } from "../tick/memory.ts";
import { createMemoryWorkflows } from "../workflows/memory.ts";
import { createTurns } from "./staging.ts";
import { createTables } from "./tables.ts";

interface MemoryStoreOptions {
  /** The store's clock in milliseconds. By default the system's. */
  readonly now?: () => number;
  /** Called after each commit with the runs that have new events. */
  readonly onWake?: (runs: readonly News[]) => void;
}

export type MemoryStore = ReturnType<typeof createMemoryStore>;

/** An empty store. */
export function createMemoryStore(options: MemoryStoreOptions = {}) {
  const { now = Date.now, onWake = () => {} } = options;
  const tables = createTables();
  const inTurn = createTurns();
  return {
    journal: createMemoryJournal(tables, { now, onWake, inTurn }),
    recovery: createMemoryRecovery(tables, now, inTurn),
    deadLetters: createMemoryDeadLetters(tables, now),
    executors: createMemoryExecutors(tables, now),
    workflows: createMemoryWorkflows(tables, now),
    schedules: createMemorySchedules(tables, now),
    nodeTypes: createMemoryNodeTypes(tables, now),
    pauses: createMemoryPauses(tables, now, inTurn),
    /** Committed rows, for readers and for checks. */
    view: {
      run: (runId: RunId) => tables.runs.get(runId),
      runs: () => [...tables.runs.values()],
      /** Every event of a run in order of seq, streamed ones too. */
      events: (runId: RunId) => tables.log.of(runId),
      leases: () => [...tables.leases.values()],
      effects: () => [...tables.effects.values()],
      jobs: () => tables.jobs.all(),
      slots: () => tables.slots.rows,
      slotWaits: (runId: RunId, asked: readonly SlotQuestion[]) =>
        readMemorySlotWaits(tables.slots, now(), runId, asked),
      executors: () => [...tables.executors.values()],
    },
  };
}
