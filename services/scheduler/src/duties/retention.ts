// Removes finished runs that are older than their rule, in small steps, and months of the log that have no run left. Then the database has a
// bound. Stream deltas of finished runs lose their text after a while. With an archive, each run is written there first; a run whose
// archive fails stays.
//
// Race: several schedulers, of which one works: all statements run on the session that holds the lock. A kill between two statements leaves
// fewer runs, logs without their run, or a month without runs. The next sweep continues, and such logs go with their month. A removed run has no row, so no reader finds its log, although its
// events stay until their month goes. A command about a run that is being removed gets RUN_NOT_FOUND, or holds the row first and the step
// skips the run.

import { LIMITS } from "@pawl/core/data/limits";
import { FINAL_STATUSES } from "@pawl/core/log/event";
import type { RunId } from "@pawl/core/name/ids";
import { leastAgeMs, type EndStatus, type Retention } from "@pawl/core/policy/retention";
import { dropMonth, type Month, readMonths, rewriteMonth } from "@pawl/platform/db/months";
import type { Pool } from "@pawl/platform/db/pool";
import type { Queryable } from "@pawl/platform/db/query";
import { withSessionLock } from "@pawl/platform/db/session-lock";
import { probe } from "@pawl/platform/lifecycle/probe";
import type { EndedPlace } from "@pawl/platform/store/retention/retention";
import {
  countKept,
  deleteLogs,
  foldDeltas,
  moveMark,
  readEnded,
  readEndedSince,
  readMark,
} from "@pawl/platform/store/retention/writes";
import { removeRuns } from "@pawl/platform/store/runs/writes";
import { METRICS } from "@pawl/platform/telemetry/catalogue";
import type { Logger } from "@pawl/platform/telemetry/log";
import { type ArchiveParts, archiveRuns } from "./archive.ts";

const LOCK = "retention";
const DELTA_MARK = "deltas";
/** Runs that one statement reads, and removes. */
const PAGE = 200;
/**
 * A log of a run with a shorter age is deleted with the run, and its month reuses the space. The log of an older run goes with its month,
 * which costs no deletion of rows. Then a log stays for at most a month after its run, which at most doubles the size.
 */
const SHORT_AGE_MS = 30 * 24 * 3_600_000;
/** A month is rewritten if at most this part of its events is of runs that stay. So a month is at most this many times larger than they. */
const KEPT_PART = 0.5;

export interface RetentionParts {
  readonly pool: Pool;
  readonly policy: Retention;
  readonly now: () => number;
  readonly log: Logger;
  /** Where runs go before they are removed. Undefined: they are only removed. */
  readonly archive?: ArchiveParts | undefined;
}

/** What one sweep did. */
interface Swept {
  archived: number;
  /** Runs that stay because their archive failed, or because they changed meanwhile. */
  unarchived: number;
  removed: number;
  folded: number;
  dropped: string[];
  rewritten: string[];
  blocked: string[];
}

/** Applies the policy once. True if more is due: children whose parent was removed in this sweep. */
export async function sweepRetention(parts: RetentionParts): Promise<boolean> {
  const { pool, policy, log } = parts;
  if (policy.statuses.length === 0 && policy.deltasMs === Infinity) return false;
  const swept = await withSessionLock(pool, LOCK, (session) => sweepOn(session, parts));
  if (swept === undefined) return false;
  const { removed, folded, archived, unarchived, dropped, rewritten, blocked } = swept;
  const months = dropped.length + rewritten.length + blocked.length;
  if (removed + folded + unarchived + months > 0)
    log.info(
      { runs: removed, archived, unarchived, deltas: folded, dropped, rewritten, blocked },
      "retention removed finished runs",
    );
  return removed > 0;
}

async function sweepOn(session: Queryable, parts: RetentionParts): Promise<Swept> {
  const { policy, now, archive: place } = parts;
  // Archives are read on other sessions. An archive of a scheduler that lost the lock does no harm: it writes the same object.
  const archive = place && { ...place, db: parts.pool };
  const swept: Swept = {
    ...{ archived: 0, unarchived: 0, removed: 0, folded: 0 },
    ...{ dropped: [], rewritten: [], blocked: [] },
  };
  const months = await readMonths(session);
  for (const rule of policy.statuses) {
    // A log outside of every month goes with nothing else.
    const isShort = leastAgeMs(rule) < SHORT_AGE_MS;
    const goesNow = (runId: string): boolean =>
      isShort || !months.some(({ fromUuid, toUuid }) => runId >= fromUuid && runId < toUuid);
    let after: EndedPlace | undefined;
    do {
      const page = await readEnded(session, { rule, after, limit: PAGE });
      const due = page.filter(({ isDue }) => isDue).map(({ runId }) => runId);
      const step = { ...{ session, due, archive, goesNow }, status: rule.status };
      const archived = await archiveAndRemove(step, swept);
      // An archive that takes no run of a page is away. The next sweep tries it again.
      after = page.length < PAGE || (due.length > 0 && archived === 0) ? undefined : page.at(-1);
    } while (after !== undefined);
  }
  swept.folded = await foldOldDeltas(session, policy.deltasMs);
  const leastMs = Math.min(...policy.statuses.map(leastAgeMs));
  for (const month of months)
    if (month.endsAt <= now() - leastMs) await sweepMonth(session, month, swept);
  return swept;
}

interface Step {
  readonly session: Queryable;
  readonly due: readonly RunId[];
  readonly status: EndStatus;
  readonly archive: (ArchiveParts & { readonly db: Queryable }) | undefined;
  readonly goesNow: (runId: string) => boolean;
}

/** Archives finished runs if there is an archive, and removes those that are there. Returns how many may be removed. */
async function archiveAndRemove(step: Step, swept: Swept): Promise<number> {
  const { due, archive } = step;
  if (archive === undefined) {
    swept.removed += await remove(step, due);
    return due.length;
  }
  const archived = due.length === 0 ? [] : await archiveRuns(archive, due);
  const stamps = archived.map(({ stamp }) => stamp);
  const removed = await remove(
    step,
    archived.map(({ runId }) => runId),
    stamps,
  );
  swept.archived += archived.length;
  swept.removed += removed;
  swept.unarchived += due.length - removed;
  return archived.length;
}

/** Removes finished runs, and logs that do not go with their month. Returns how many runs it removed. */
async function remove(
  { session, status, goesNow }: Step,
  runIds: readonly RunId[],
  stamps: readonly string[] = [],
): Promise<number> {
  if (runIds.length === 0) return 0;
  probe("retention.before-remove");
  const removed = await removeRuns(session, runIds, stamps);
  probe("retention.after-remove");
  METRICS.runsRemoved.add(removed.length, { status });
  const logs = removed.filter(goesNow);
  if (logs.length > 0) await deleteLogs(session, logs);
  return removed.length;
}

/** Drops a month without runs. Rewrites a month if most of its events are of removed runs. */
async function sweepMonth(session: Queryable, month: Month, swept: Swept): Promise<void> {
  const kept = await countKept(session, { ...month, limit: LIMITS.monthRuns });
  // Too many runs stay to gain by a rewrite.
  if (kept.runs === LIMITS.monthRuns || kept.events > month.events * KEPT_PART) return;
  const isEmpty = kept.runs === 0;
  const removal = isEmpty ? await dropMonth(session, month) : await rewriteMonth(session, month);
  probe("retention.after-month");
  if (removal === "kept") return;
  if (removal === "done") METRICS.monthsRemoved.add(1, { how: isEmpty ? "dropped" : "rewritten" });
  const done = isEmpty ? swept.dropped : swept.rewritten;
  (removal === "done" ? done : swept.blocked).push(month.name);
}

/** Empties the stream deltas of runs that ended longer ago than an age. Walks each run once: its place is stored. */
async function foldOldDeltas(session: Queryable, ageMs: number): Promise<number> {
  if (ageMs === Infinity) return 0;
  const statuses = [...FINAL_STATUSES] as EndStatus[];
  let folded = 0;
  for (;;) {
    const after = await readMark(session, DELTA_MARK);
    const page = await readEndedSince(session, { statuses, ageMs, after, limit: PAGE });
    const last = page.at(-1);
    if (last === undefined) return folded;
    const runIds = page.map(({ runId }) => runId);
    const some = await foldDeltas(session, runIds);
    METRICS.deltasFolded.add(some);
    folded += some;
    await moveMark(session, DELTA_MARK, last);
  }
}
