// The memory store under test.

import { createMemoryStore, type MemoryStore } from "@pawl/platform/store/memory/store";
import type { RunEvent } from "@pawl/core/log/event";
import type { Seen, StoreUnderTest } from "./store.ts";

/** An empty memory store. */
export async function openMemory(): Promise<StoreUnderTest> {
  const { view, ...seams } = createMemoryStore();
  const { journal } = seams;
  return {
    ...seams,
    rival: journal,
    db: undefined,
    ...losses(journal, view),
    prepare: async () => {},
    slotWaits: async (runId, asked) => view.slotWaits(runId, asked),
    see: async (runId): Promise<Seen> => {
      const run = view.run(runId);
      return {
        run: run && {
          status: run.status,
          version: run.version,
          lastSeq: run.lastSeq,
          hasFailures: run.hasFailures,
          errorMessage: run.errorMessage,
          failureClass: run.failureClass,
          hasEnded: run.endedAt !== null,
        },
        events: view.events(runId).map((event) => ({
          seq: event.seq,
          type: event.type,
          nodeId: event.nodeId,
          iteration: event.iteration,
          attempt: event.attempt,
          epoch: event.epoch,
          payload: event.payload,
          value: event.value === undefined ? null : JSON.parse(event.value),
        })),
        leases: view
          .leases()
          .filter((lease) => lease.runId === runId)
          .map(({ nodeId, iteration, epoch, attempt, executorId }) => ({
            nodeId,
            iteration,
            epoch,
            attempt,
            executorId,
          }))
          .toSorted((a, b) => placeOf(a).localeCompare(placeOf(b))),
        effects: view
          .effects()
          .filter((effect) => effect.runId === runId)
          .map(({ nodeId, iteration, name, class: kind, begunEpoch, committedEpoch, ...row }) => ({
            nodeId,
            iteration,
            name,
            class: kind,
            begunEpoch,
            committedEpoch,
            result: row.resultJson === null ? null : JSON.parse(row.resultJson),
          }))
          .toSorted((a, b) => `${placeOf(a)}/${a.name}`.localeCompare(`${placeOf(b)}/${b.name}`)),
      };
    },
    executorIds: async () =>
      view
        .executors()
        .map((row): string => row.executorId)
        .toSorted(),
    close: async () => {},
  };
}

/** Removes rows without any scheduler's knowledge. */
const losses = (
  journal: MemoryStore["journal"],
  view: MemoryStore["view"],
): Pick<StoreUnderTest, "loseEvent" | "strayEvent" | "loseJobs"> => ({
  loseEvent: async (runId, seq) => {
    // The view gives the store's own list, which only this test support changes.
    const log = view.events(runId) as RunEvent[];
    const at = log.findIndex((event) => event.seq === seq);
    const lost = log.splice(at, 1);
    return async () => void log.splice(at, 0, ...lost);
  },
  strayEvent: async (runId) => {
    const log = view.events(runId) as RunEvent[];
    const last = log.at(-1);
    if (last !== undefined) log.push({ ...last, seq: last.seq + 1 });
    return async () => void log.pop();
  },
  loseJobs: async (runId) => {
    const lost = view.jobs().filter((job) => job.runId === runId);
    await journal.transact((tx) => tx.dropJobs(lost));
  },
});

const placeOf = (lease: { readonly nodeId: string; readonly iteration: number }): string =>
  `${lease.nodeId}/${lease.iteration}`;
