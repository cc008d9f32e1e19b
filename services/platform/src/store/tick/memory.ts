// The journal in memory: the same compare-and-swap, unique keys, fencing and rollback as on Postgres, in one process. Calls on a
// transaction change staged tables at once, in the order they are made, and reach the committed ones together at the commit. As in
// Postgres, the first refusal fails the whole transaction.

import type { RunEvent } from "@pawl/core/log/event";
import type { RunId } from "@pawl/core/name/ids";
import { StagedJobs } from "../../queue/memory-jobs.ts";
import type { DroppedJob, Job, NewJob } from "../../queue/queue.ts";
import type { ClosedApproval, NewApproval } from "../approvals/approvals.ts";
import { dueApprovals, findApproval, StagedApprovals } from "../approvals/memory.ts";
import type { NewDeadLetter } from "../dead-letters/dead-letters.ts";
import { StagedDeadLetters } from "../dead-letters/memory.ts";
import type { Begun, Committed, EffectBegin, EffectCommit } from "../effects/effects.ts";
import { StagedEffects } from "../effects/memory.ts";
import type { Extension, LeaseKey, NewLease } from "../leases/leases.ts";
import { StagedLeases } from "../leases/memory.ts";
import type { Append, StreamedFact } from "../log/log.ts";
import { eventOf, StagedLog } from "../log/memory.ts";
import { pairKey, type Tables } from "../memory/tables.ts";
import type { TakeTurn } from "../memory/staging.ts";
import {
  deleteTestRun,
  isUnderWay,
  liveChildren,
  loadedRun,
  type RunRow,
  StagedRuns,
} from "../runs/memory.ts";
import type { InputKey, MovedDeadline, NewRun, RunChange, TestGraph } from "../runs/runs.ts";
import { StagedSlots } from "../slots/memory.ts";
import type { SlotChange, SlotsMoved } from "../slots/slots.ts";
import { type Journal, type News, PausesMoved, type Transaction } from "./journal.ts";

export interface MemoryJournalOptions {
  readonly now: () => number;
  /** Called after each commit with the runs that have new events. */
  readonly onWake: (runs: readonly News[]) => void;
  readonly takeTurn: TakeTurn;
}

/** A journal over the tables. */
export function createMemoryJournal(tables: Tables, options: MemoryJournalOptions): Journal {
  const { now, onWake, takeTurn } = options;
  const inTurn = async <T>(act: () => T | Promise<T>): Promise<T> => {
    const endTurn = await takeTurn();
    try {
      return await act();
    } finally {
      endTurn();
    }
  };
  return {
    transact: (work) =>
      inTurn(async () => {
        const tx = new MemoryTransaction(tables, now());
        const result = await work(tx);
        const news = tx.commit();
        if (news.length > 0) onWake(news);
        return result;
      }),
    load: async (cursors) => cursors.flatMap((cursor) => loadedRun(tables, cursor)),
    findRequest: async (tenantId, requestIds) =>
      requestIds.flatMap((requestId) => {
        const runId = tables.requests.get(pairKey(tenantId, requestId));
        const run = runId && tables.runs.get(runId);
        return run ? [{ requestId, requestHash: run.requestHash ?? "", runId: run.runId }] : [];
      }),
    findInputKeys: async (tenantId, inputKeys) =>
      inputKeys.flatMap((inputKey) => {
        const kept = tables.inputKeys.get(pairKey(tenantId, inputKey));
        if (kept === undefined || kept.expiresAt <= now()) return [];
        return [{ inputKey, runId: kept.runId }];
      }),
    liveChildren: async (runIds, limit) => liveChildren(tables, runIds).slice(0, limit),
    overdueRuns: async (limit) =>
      [...tables.runs.values()]
        .filter((run) => isUnderWay(run) && run.deadlineAt < now())
        .toSorted((a, b) => a.deadlineAt - b.deadlineAt)
        .slice(0, limit)
        .map((run) => run.runId),
    dueApprovals: async (limit) => dueApprovals(tables, now()).slice(0, limit),
    findApproval: async (approvalId) => findApproval(tables, approvalId),
    deleteTestRun: (runId) => inTurn(() => deleteTestRun(tables, runId)),
    survey: async () => {
      const freeAt = tables.slots.nextFreeAt();
      const dead = [...tables.deadLetters.values()].filter((row) => row.state === "open");
      return {
        queues: tables.jobs.depths(now()),
        nextRateSlotMs: freeAt === undefined ? undefined : freeAt - now(),
        openDeadLetters: dead.length,
        pauseEpoch: tables.pauseEpoch.value,
      };
    },
  };
}

class MemoryTransaction implements Transaction {
  readonly #now: number;
  readonly #pauseEpoch: number;
  readonly #runs: StagedRuns;
  readonly #approvals: StagedApprovals;
  readonly #deadLetters: StagedDeadLetters;
  readonly #leases: StagedLeases;
  readonly #effects: StagedEffects;
  readonly #log: StagedLog;
  readonly #jobs: StagedJobs;
  readonly #slots: StagedSlots;
  readonly #news: News[] = [];
  #refusal: unknown;

  constructor(tables: Tables, now: number) {
    this.#now = now;
    this.#pauseEpoch = tables.pauseEpoch.value;
    this.#runs = new StagedRuns(tables, now);
    this.#approvals = new StagedApprovals(tables, now);
    this.#deadLetters = new StagedDeadLetters(tables, now);
    this.#leases = new StagedLeases(tables, now);
    this.#effects = new StagedEffects(tables);
    this.#log = new StagedLog(tables.log);
    this.#jobs = new StagedJobs(tables.jobs, now);
    this.#slots = new StagedSlots(tables.slots, now);
  }

  /** Applies everything, or throws the first refusal and applies nothing. Gives the runs with new events. */
  commit(): readonly News[] {
    if (this.#refusal !== undefined) throw this.#refusal;
    this.#refusal = new Error("the transaction is over");
    const rows = [this.#runs, this.#approvals, this.#deadLetters, this.#leases, this.#effects];
    for (const part of [...rows, this.#log, this.#jobs, this.#slots]) part.apply();
    return this.#news;
  }

  assumePauses(epoch: number): void {
    if (epoch !== this.#pauseEpoch) this.#refusal ??= new PausesMoved("the pauses have changed");
  }

  insertRuns(runs: readonly NewRun[]): Promise<void> {
    return this.#call(() => runs.forEach((run) => this.#runs.insert(run)));
  }

  saveGraphs(graphs: readonly TestGraph[]): Promise<void> {
    return this.#call(() => graphs.forEach((graph) => this.#runs.saveGraph(graph)));
  }

  keepInputKeys(keys: readonly InputKey[]): Promise<void> {
    return this.#call(() => keys.forEach((key) => this.#runs.keepInputKey(key)));
  }

  advance(changes: readonly RunChange[]): Promise<ReadonlyMap<RunId, number>> {
    return this.#call(
      () => new Map(changes.map((change) => [change.runId, this.#runs.move(change)])),
    );
  }

  moveDeadlines(moved: readonly MovedDeadline[]): Promise<void> {
    return this.#call(() => moved.forEach((each) => this.#runs.moveDeadline(each)));
  }

  append(facts: readonly Append[]): Promise<void> {
    return this.#ofRuns(facts, ({ back, fact }, { runId, lastSeq }) =>
      this.#log.append(eventOf(fact, { runId, seq: lastSeq - back, at: this.#now }), 0),
    );
  }

  openApprovals(approvals: readonly NewApproval[]): Promise<void> {
    return this.#ofRuns(approvals, (approval) => this.#approvals.open(approval));
  }

  closeApprovals(approvals: readonly ClosedApproval[]): Promise<void> {
    return this.#call(() => approvals.forEach((each) => this.#approvals.close(each)));
  }

  bury(letters: readonly NewDeadLetter[]): Promise<void> {
    return this.#ofRuns(letters, (letter, run) => this.#deadLetters.bury(letter, run));
  }

  openLeases(leases: readonly NewLease[]): Promise<void> {
    return this.#ofRuns(leases, (lease, run) => this.#leases.open(lease, run.lastSeq - lease.back));
  }

  closeLeases(keys: readonly LeaseKey[]): Promise<void> {
    return this.#call(() => keys.forEach((key) => this.#leases.close(key)));
  }

  nextDeltas(keys: readonly LeaseKey[]): Promise<readonly number[]> {
    return this.#call(() => keys.map((key) => this.#log.nextDelta(key)));
  }

  lock(): Promise<void> {
    // Transactions take turns.
    return this.#call(() => undefined);
  }

  stream(facts: readonly StreamedFact[]): Promise<readonly boolean[]> {
    return this.#call(() => facts.map((fact) => this.#stream(fact)));
  }

  beginEffects(begins: readonly EffectBegin[]): Promise<readonly Begun[]> {
    return this.#call(() =>
      begins.map((begin) =>
        this.#leases.held(begin) === undefined ? { state: "stale" } : this.#effects.begin(begin),
      ),
    );
  }

  commitEffects(commits: readonly EffectCommit[]): Promise<readonly Committed[]> {
    return this.#call(() =>
      commits.map((commit) =>
        this.#leases.held(commit) === undefined ? "stale" : this.#effects.commit(commit),
      ),
    );
  }

  extendLeases(extensions: readonly Extension[]): Promise<readonly boolean[]> {
    return this.#call(() => extensions.map((extension) => this.#leases.extend(extension)));
  }

  enqueue(jobs: readonly NewJob[]): Promise<void> {
    return this.#call(() => jobs.forEach((job) => this.#jobs.add(job)));
  }

  dropJobs(jobs: readonly DroppedJob[]): Promise<void> {
    return this.#call(() => jobs.forEach((job) => this.#jobs.drop(job)));
  }

  moveSlots(change: SlotChange): Promise<SlotsMoved> {
    return this.#call(() => this.#slots.move(change));
  }

  fetch(nodeType: string, count: number): Promise<readonly Job[]> {
    return this.#call(() => this.#jobs.take(nodeType, count));
  }

  wake(news: readonly News[]): Promise<void> {
    return this.#call(() => void this.#news.push(...news));
  }

  /** Answers later but acts now. A refusal is kept for the commit, so that the caller may drop this answer. */
  #call<T>(act: () => T): Promise<T> {
    if (this.#refusal === undefined) {
      try {
        return Promise.resolve(act());
      } catch (error) {
        this.#refusal = error;
      }
    }
    const refused = Promise.reject<T>(this.#refusal);
    refused.catch(() => {});
    return refused;
  }

  /** Acts on the items whose runs exist. */
  #ofRuns<Item extends { readonly runId: RunId }>(
    items: readonly Item[],
    act: (item: Item, run: RunRow) => void,
  ): Promise<void> {
    return this.#call(() => {
      for (const item of items) {
        const run = this.#runs.get(item.runId);
        if (run !== undefined) act(item, run);
      }
    });
  }

  /** Appends partial output unless it is there. Says whether its claim holds. */
  #stream(fact: StreamedFact): boolean {
    const { runId, nodeId, iteration, epoch, ordinal, type } = fact;
    const run = this.#runs.get(runId);
    const lease = this.#leases.held(fact);
    if (run === undefined || lease === undefined) return false;
    if (this.#log.hasStreamed(runId, epoch, type, ordinal)) return true;
    const seq = this.#runs.takeSeq(run);
    // A copy by way of JSON is what a jsonb column makes of it; the cast restores the pairing of type and payload.
    const payload: unknown = JSON.parse(JSON.stringify(fact.payload));
    const place = { runId, seq, nodeId, iteration, attempt: lease.attempt, epoch, at: this.#now };
    this.#log.append({ ...place, type, payload } as RunEvent, ordinal);
    return true;
  }
}
