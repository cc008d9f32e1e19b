// The tick: one transaction for everything that arrived, for all runs of the batch. It reads top to bottom as
//   fence, settle, plan, place, (claim,) commit, tell.
//
// The race it survives: another scheduler decides about the same run at the same time. Both plan on the version they know;
// the compare-and-swap lets one commit and fails the other's whole transaction (RunMoved), which drops its folds and begins
// again. Another scheduler pauses a workflow or a queue: what was started or claimed on the pauses before fails the same way
// (PausesMoved). A refusal is not fenced by anything, so an input that looks stale is judged again on a fresh fold first.

import { isFinal } from "@pawl/core/log/event";
import type { RunId } from "@pawl/core/name/ids";
import { planToFixpoint } from "@pawl/core/plan/plan";
import { probe } from "@pawl/platform/lifecycle/probe";
import type { Journal, News, Transaction } from "@pawl/platform/store/journal";
import { type NewJob, PENDING_RUNS, RATE_SLOTS } from "@pawl/platform/queue/queue";
import type { PauseView } from "../pause/pause-view.ts";
import type { Roster } from "../work/roster.ts";
import type { RunCache } from "./cache.ts";
import { followLinks } from "./child.ts";
import { beginPending } from "./begin.ts";
import { claimableTypes, claimWaiting } from "./claim.ts";
import { countFacts } from "./count.ts";
import type { Definitions } from "./definitions.ts";
import { Draft } from "./draft.ts";
import { moveSlots } from "./gates.ts";
import type { Input } from "./input.ts";
import { place } from "./place.ts";
import { settleAll } from "./settle-all.ts";
import { tell } from "./tell.ts";
import type { Waiting } from "./waiting.ts";

export interface TickParts {
  readonly journal: Journal;
  readonly cache: RunCache;
  readonly definitions: Definitions;
  readonly roster: Roster;
  readonly waiting: Waiting;
  readonly pauses: { readonly current: PauseView };
  readonly now: () => number;
}

/** What a tick did. */
export interface TickReport {
  /** Inputs that it did not try. */
  readonly left: readonly Input[];
  readonly eventCount: number;
  readonly claimCount: number;
  /** The soonest deadline of the approvals it opened, where one has any. */
  readonly approvalDueMs: number | undefined;
}

/** Commits everything that follows from `inputs`. @throws whatever made the transaction fail; nothing is changed then. */
export async function tick(parts: TickParts, inputs: readonly Input[]): Promise<TickReport> {
  const { cache, roster, waiting, journal } = parts;
  // One reading for all of it: the commit proves that it was the current one.
  const { current: pauses } = parts.pauses;
  const draft = new Draft(parts.now(), pauses);
  const claims = new Draft(draft.now, pauses);
  let claimable: readonly string[] = [];
  try {
    const { replies, left } = await settleAll(parts, draft, inputs);
    for (const run of draft.runs)
      planToFixpoint(run.state, draft.now, (fact) => draft.append(run, fact));
    await followLinks(cache, draft);
    place(draft, roster, waiting);
    claimable = claimableTypes({ waiting, roster, pauses: { current: pauses } });
    if (!draft.isEmpty || claimable.length > 0 || waiting.mayWait(RATE_SLOTS)) {
      const sent = await journal.transact((tx) => send(parts, tx, draft, claims, claimable));
      (sent.claimed === undefined ? draft : claims).settleSeqs(await sent.lastSeqs);
      probe("S6");
    }
    replies.push(...(await draft.fenced.replies(cache, (runId) => draft.has(runId))));
    for (const run of [...draft.runs, ...claims.runs]) cache.keepLive(run, draft.now);
    expectDelayed(parts, [...draft.jobs, ...claims.jobs]);
    countFacts(draft);
    countFacts(claims);
    tell(roster, draft);
    tell(roster, claims);
    probe("S7");
    for (const reply of replies) reply();
    return {
      left,
      eventCount: draft.eventCount + claims.eventCount,
      claimCount: draft.handOffs.length + claims.handOffs.length,
      approvalDueMs: soonest(draft),
    };
  } catch (error) {
    for (const run of [...draft.runs, ...claims.runs]) cache.drop(run.state.runId);
    // What was fetched is back in its queues, and nobody else would say so.
    for (const type of claimable) waiting.enqueued(type, draft.now);
    throw error;
  } finally {
    cache.trim();
    for (const { session } of [...draft.handOffs, ...claims.handOffs]) session.reserved -= 1;
  }
}

/**
 * Notes when delayed jobs are due. The database counts a delay from the beginning of the transaction, so counting from after
 * the commit is never early: a fetch that came too early would find nothing, and nobody would look again for a while.
 */
function expectDelayed({ waiting, now }: TickParts, jobs: readonly NewJob[]): void {
  const committedAt = now();
  for (const { nodeType, delayMs } of jobs)
    if (delayMs !== undefined) waiting.enqueued(nodeType, committedAt + delayMs);
}

function soonest({ approvals }: Draft): number | undefined {
  const all = approvals.opened.flatMap(({ deadlineMs }) => deadlineMs ?? []);
  return all.length === 0 ? undefined : Math.min(...all);
}

interface Sent {
  /** Answers with the last seqs of the draft written last; not awaited before the commit is sent. */
  readonly lastSeqs: Promise<ReadonlyMap<RunId, number>>;
  readonly claimed: Draft | undefined;
}

/** Sends every statement without waiting, unless jobs are to be claimed: what a fetch gives decides what follows. */
async function send(
  parts: TickParts,
  tx: Transaction,
  draft: Draft,
  claims: Draft,
  claimable: readonly string[],
): Promise<Sent> {
  const drafted = write(tx, draft);
  if (claimable.length === 0) {
    if (hasGates(parts, draft, claims)) await settleGates(parts, tx, draft, claims);
    announce(tx, news(draft));
    return { lastSeqs: drafted, claimed: undefined };
  }
  draft.settleSeqs(await drafted);
  for (const type of claimable)
    if (type === PENDING_RUNS) await beginPending(parts, tx, { draft, claims });
    else await claimWaiting(parts, tx, { draft, claims, type });
  const lastSeqs = write(tx, claims);
  if (hasGates(parts, draft, claims)) await settleGates(parts, tx, draft, claims);
  announce(tx, [...news(draft), ...news(claims)]);
  return { lastSeqs, claimed: claims };
}

/** The last statement of a tick. */
function announce(tx: Transaction, told: readonly News[]): void {
  void tx.wake(told);
  if (told.some(({ ended }) => ended)) probe("S10");
  probe("S5");
}

/** What has no limits pays nothing for those of others. */
const hasGates = ({ waiting }: TickParts, draft: Draft, claims: Draft): boolean =>
  !draft.gates.isEmpty || !claims.gates.isEmpty || waiting.mayWait(RATE_SLOTS);

async function settleGates(
  { waiting, now }: TickParts,
  tx: Transaction,
  draft: Draft,
  claims: Draft,
): Promise<void> {
  const isDue = waiting.mayWait(RATE_SLOTS);
  await moveSlots(tx, draft.gates.changeWith(claims.gates, isDue), waiting, now);
}

function write(tx: Transaction, draft: Draft): Promise<ReadonlyMap<RunId, number>> {
  if (draft.assumesPauses) tx.assumePauses(draft.pauses.epoch);
  draft.fenced.send(tx);
  void tx.saveGraphs(draft.newGraphs);
  void tx.keepInputKeys(draft.inputKeys);
  void tx.insertRuns(draft.newRuns);
  const lastSeqs = tx.advance(draft.changes);
  void tx.append(draft.appends);
  void tx.closeLeases(draft.closed);
  void tx.openLeases(draft.leases);
  void tx.moveDeadlines(draft.movedDeadlines);
  void tx.openApprovals(draft.approvals.opened);
  void tx.closeApprovals(draft.approvals.closed);
  void tx.bury(draft.buried);
  void tx.dropJobs(draft.droppedJobs);
  if (draft.jobs.length > 0) void tx.enqueue(draft.jobs);
  return lastSeqs;
}

/**
 * Which runs have news. The seqs are hints: a reader that finds more reads more. A run without a version begins here: nobody knows its
 * id yet, so it wakes no reader unless it is over at once, and whoever comes to watch it looks for itself.
 */
function news(draft: Draft): News[] {
  const runs = draft.runs.flatMap(({ version, state: { runId, lastSeq, status } }) =>
    version === 0 && !isFinal(status) ? [] : [{ runId, lastSeq, ended: isFinal(status) }],
  );
  const streamed = new Set(draft.fenced.streamedRuns);
  for (const { runId } of runs) streamed.delete(runId);
  return [...runs, ...[...streamed].map((runId) => ({ runId, lastSeq: 0, ended: false }))];
}
