// The journal in memory: the same compare-and-swap, unique keys, fencing and rollback as on PostgreSQL, in one process. Calls on a
// transaction change staged tables at once, in the order they are made. The commit applies them together. As in PostgreSQL, the first
// refusal fails the whole transaction.

import type { RunEvent } from "@pawl/core/log/event";
import type { RunId } from "@pawl/core/name/ids";
import { StagedJobs } from "../../queue/memory-jobs.ts";
import { closeApproval, dueApprovals, findApproval, openApproval } from "../approvals/memory.ts";
import { moveDays } from "../days/memory.ts";
import { buryLetter } from "../dead-letters/memory.ts";
import { beginEffect, commitEffect, copyOfEffects } from "../effects/memory.ts";
import { extendLease, heldLease, leaseKey, openLease } from "../leases/memory.ts";
import type { StreamedFact } from "../log/log.ts";
import { eventOf, StagedLog } from "../log/memory.ts";
import { type InTurn, pairKey, type StagedRows, stageRows } from "../memory/staging.ts";
import type { Tables } from "../memory/store.ts";
import * as runs from "../runs/memory.ts";
import { closeWait, dueWaits, openWait } from "../signals/memory.ts";
import { StagedSlots } from "../slots/memory.ts";
import { keepWebhook, postEvent, surveyWebhooks } from "../webhooks/memory.ts";
import { referValue } from "../values/memory.ts";
import { nameAssistant } from "../assistants/memory.ts";
import { loadThread, moveThreads } from "../threads/memory.ts";
import { type Journal, type News, PausesMoved, type Transaction } from "./journal.ts";

interface MemoryJournalOptions {
  readonly now: () => number;
  /** Called after each commit with the runs that have new events. */
  readonly onWake: (runs: readonly News[]) => void;
  readonly inTurn: InTurn;
}

/** A journal over the tables. */
export function createMemoryJournal(tables: Tables, options: MemoryJournalOptions): Journal {
  const { now, onWake, inTurn } = options;
  return {
    transact: (work, onSent) =>
      inTurn(async () => {
        const { tx, commit } = begin(tables, now());
        const result = await work(tx);
        onSent?.();
        const news = commit();
        if (news.length > 0) onWake(news);
        return result;
      }),
    load: async (cursors) => cursors.flatMap((cursor) => runs.loadedRun(tables, cursor)),
    findRequest: async (tenantId, requestIds) =>
      requestIds.flatMap((requestId) => {
        const runId = tables.requests.get(pairKey(tenantId, requestId));
        const run = runId && tables.runs.get(runId);
        return run ? [{ requestId, requestHash: run.requestHash ?? "", runId: run.runId }] : [];
      }),
    findInputKeys: async (tenantId, inputKeys) =>
      inputKeys.flatMap((inputKey) => {
        const kept = tables.inputKeys.get(pairKey(tenantId, inputKey));
        if (kept === undefined || kept.expiresAt <= now() || !tables.runs.has(kept.runId))
          return [];
        return [{ inputKey, runId: kept.runId }];
      }),
    loadThreads: async (keys) => keys.flatMap((key) => loadThread(tables, key)),
    liveChildren: async (runIds, limit) => runs.liveChildren(tables, runIds).slice(0, limit),
    overdueRuns: async (limit) =>
      [...tables.runs.values()]
        .filter((run) => runs.isUnderWay(run) && run.deadlineAt < now())
        .toSorted((a, b) => a.deadlineAt - b.deadlineAt)
        .slice(0, limit)
        .map((run) => run.runId),
    dueApprovals: async (limit) => dueApprovals(tables, now()).slice(0, limit),
    dueWaits: async (limit) => dueWaits(tables, now()).slice(0, limit),
    findApproval: async (approvalId) => findApproval(tables, approvalId),
    deleteUnkept: (runIds) => inTurn(() => runs.deleteUnkept(tables, runIds, now())),
    dueTemporary: async (asked) => runs.dueTemporary(tables, asked, now()),
    survey: async () => {
      const freeAt = tables.slots.nextFreeAt();
      const dead = [...tables.deadLetters.values()].filter((row) => row.state === "open");
      return {
        queues: tables.jobs.depths(now()),
        nextRateSlotMs: freeAt === undefined ? undefined : freeAt - now(),
        openDeadLetters: dead.length,
        pauseEpoch: tables.pauseEpoch.value,
        ...surveyWebhooks(tables, now()),
        bulkDueMs: undefined,
      };
    },
  };
}

/** Keeps the first refusal of a transaction. */
class Calls {
  refusal: unknown;

  /** Acts now and answers later. It keeps a refusal for the commit, so the caller may ignore this answer. */
  readonly call = <T>(act: () => T): Promise<T> => {
    if (this.refusal === undefined) {
      try {
        return Promise.resolve(act());
      } catch (error) {
        this.refusal = error;
      }
    }
    const refused = Promise.reject<T>(this.refusal);
    refused.catch(() => {});
    return refused;
  };

  /** A call that acts on each item. */
  readonly each =
    <Item>(act: (item: Item) => void) =>
    (items: readonly Item[]): Promise<void> =>
      this.call(() => items.forEach((item) => act(item)));

  /** A call that answers for each item. */
  readonly map =
    <Item, Answer>(answer: (item: Item) => Answer) =>
    (items: readonly Item[]): Promise<readonly Answer[]> =>
      this.call(() => items.map((item) => answer(item)));
}

/** Begins a transaction. `commit` applies everything and returns the runs with new events, or throws the first refusal. */
function begin(tables: Tables, now: number): { tx: Transaction; commit: () => readonly News[] } {
  const rows = stageRows(tables, now);
  const log = new StagedLog(tables.log);
  const [jobs, slots] = [new StagedJobs(tables.jobs, now), new StagedSlots(tables.slots, now)];
  const news: News[] = [];
  const calls = new Calls();
  const { call, each, map } = calls;
  /** A call that acts on the items whose runs exist. */
  const ofRuns = <Item extends { readonly runId: RunId }>(
    act: (item: Item, run: runs.RunRow) => void,
  ) =>
    each<Item>((item) => {
      const run = rows.runs.get(item.runId);
      if (run !== undefined) act(item, run);
    });
  const tx: Transaction = {
    assumePauses: (epoch) => {
      if (epoch !== tables.pauseEpoch.value)
        calls.refusal ??= new PausesMoved("the pauses have changed");
    },
    insertRuns: each((run) => runs.insertRun(rows, run)),
    saveGraphs: each((graph) => runs.saveGraph(rows, graph)),
    keepInputKeys: each((key) => runs.keepInputKey(rows, key)),
    linkRepairs: each((link) => rows.repairs.insert(link.runId, link, "run_repairs_pkey")),
    keepMetadata: each(({ runId, metadata }) => rows.metadata.set(runId, metadata)),
    copyEffects: each((kept) => copyOfEffects(tables, rows, kept)),
    advance: (changes) =>
      call(() => new Map(changes.map((change) => [change.runId, runs.moveRun(rows, change)]))),
    nameAssistants: each((named) => nameAssistant(rows, named)),
    markStops: each((stopped) => runs.markStop(rows, stopped)),
    moveThreads: (moves) => call(() => moveThreads(rows, tables, moves)),
    moveDeadlines: each((moved) => runs.moveDeadline(rows, moved)),
    append: ofRuns(({ back, fact }, { runId, lastSeq }) =>
      log.append(eventOf(fact, { runId, seq: lastSeq - back, at: now }), 0),
    ),
    openApprovals: ofRuns((approval) => openApproval(rows, approval)),
    closeApprovals: each((closed) => closeApproval(rows, closed)),
    openWaits: ofRuns((wait) => openWait(rows, wait)),
    closeWaits: each((wait) => closeWait(rows, wait)),
    referValues: each((ref) => referValue(rows, tables, ref)),
    bury: ofRuns((letter, run) => buryLetter(rows, letter, run)),
    openLeases: ofRuns((lease, run) => openLease(rows, lease, run.lastSeq)),
    closeLeases: each((key) => rows.leases.delete(leaseKey(key))),
    nextDeltas: map((key) => log.nextDelta(key)),
    lock: () => call(() => undefined), // transactions take turns
    stream: map((fact) => stream(rows, log, fact)),
    beginEffects: map((effect) =>
      heldLease(rows, effect) === undefined ? { state: "stale" } : beginEffect(rows, effect),
    ),
    commitEffects: map((effect) =>
      heldLease(rows, effect) === undefined ? "stale" : commitEffect(rows, effect),
    ),
    extendLeases: map((extension) => extendLease(rows, extension)),
    enqueue: each((job) => jobs.add(job)),
    dropJobs: each((job) => jobs.drop(job)),
    keepWebhooks: each((webhook) => keepWebhook(rows, webhook)),
    post: each((event) => postEvent(rows, log, event)),
    moveDays: (change) => call(() => moveDays(rows, change)),
    moveSlots: (change) => call(() => slots.move(change)),
    fetch: (nodeType, count) => call(() => jobs.take(nodeType, count)),
    wake: each((run) => news.push(run)),
  };
  const commit = (): readonly News[] => {
    if (calls.refusal !== undefined) throw calls.refusal;
    calls.refusal = new Error("the transaction is over");
    for (const part of [rows, log, jobs, slots]) part.apply();
    return news;
  };
  return { tx, commit };
}

/** Appends a stream delta unless the log has it. Returns whether its claim holds. */
function stream(rows: StagedRows, log: StagedLog, fact: StreamedFact): boolean {
  const { runId, nodeId, iteration, epoch, ordinal, type } = fact;
  const run = rows.runs.get(runId);
  const lease = heldLease(rows, fact);
  if (run === undefined || lease === undefined) return false;
  if (log.hasStreamed(runId, epoch, type, ordinal)) return true;
  const seq = runs.takeSeq(rows, run);
  // A jsonb column makes the same copy. The cast restores the pairing of type and payload.
  const payload: unknown = JSON.parse(JSON.stringify(fact.payload));
  const place = { runId, seq, nodeId, iteration, attempt: lease.attempt, epoch, at: rows.now };
  log.append({ ...place, type, payload } as RunEvent, ordinal);
  return true;
}
