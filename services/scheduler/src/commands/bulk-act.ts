// Acts on one run for a bulk: the same commands that a person would send for this run.
//
// Race: a scheduler dies after the act and before its record. The next scheduler acts again. The act is then a repeat. A cancellation names
// the bulk, and a new run has a request id of the old run. A pause, a resumption or a removal leaves a state that is its own proof. A run
// that a step has begun before is therefore not skipped because of the state that the act itself made.
//
// Race: two bulks act on one run. The request id of a new run names the old run and not the bulk, so there is one new run at most. What the
// request asks for names the bulk, so the second bulk skips the run, also if it began the act before and repeats it.

import { EngineError } from "@pawl/core/fault/engine-error";
import { unreachable } from "@pawl/core/fault/invariant";
import type { RunId } from "@pawl/core/name/ids";
import { type BulkFacts, type BulkOutcome, whySkipped } from "@pawl/core/bulk/bulk";
import type { KnownTypes } from "@pawl/core/definition/known-types";
import type { Pool } from "@pawl/platform/db/pool";
import { probe } from "@pawl/platform/lifecycle/probe";
import type { BulkRecord, Bulks } from "@pawl/platform/store/bulks/bulks";
import { deleteLogs } from "@pawl/platform/store/retention/writes";
import { removeRuns } from "@pawl/platform/store/runs/writes";
import type { RepairAsked } from "@pawl/platform/wire/repair";
import type { KnownPauses } from "../commit/pauses.ts";
import { cancelRun } from "./end-run.ts";
import { pauseRun } from "./pause-run.ts";
import { redrive, type RedriveParts } from "./redrive.ts";
import { type RepairParts, repairRun } from "./repair-run.ts";
import { resumeInterrupted } from "./resume-interrupted.ts";

export interface ActParts extends RedriveParts, Omit<RepairParts, "types"> {
  readonly pool: Pool;
  readonly bulks: Bulks;
  readonly known: KnownPauses;
}

/** A bulk with all that its acts need. */
export interface ActingBulk extends BulkRecord {
  readonly definition: string | undefined;
  /** The node types that executors serve, if the bulk has a definition. */
  readonly types: KnownTypes | undefined;
}

interface ActOn {
  readonly runId: RunId;
  /** Undefined if there is no such run any more. */
  readonly facts: BulkFacts | undefined;
  /** Whether an earlier step began to act on the run, and did not record what happened. */
  readonly isRepeat: boolean;
}

interface Acted {
  readonly outcome: BulkOutcome;
  readonly reason: string;
  readonly message: string;
  readonly newRunId: RunId | null;
}

const done = (newRunId: RunId | null = null): Acted => ({
  ...{ outcome: "done", reason: "", message: "", newRunId },
});
const skipped = (reason: string): Acted => ({
  ...{ outcome: "skipped", reason, message: "", newRunId: null },
});

/** Refusals that say that the action does not apply: the run moved on since the facts were read. */
const SKIPS: Readonly<Partial<Record<string, string>>> = {
  RUN_NOT_FOUND: "deleted",
  RUN_ALREADY_FINISHED: "ended",
  RUN_NOT_FINISHED: "live",
  NOTHING_TO_REPAIR: "nothing_to_repair",
};

/** Acts on a run. @throws an error, of which `failureOf` makes an outcome unless it may pass */
export async function actOn(parts: ActParts, bulk: ActingBulk, on: ActOn): Promise<Acted> {
  const { facts, isRepeat } = on;
  if (facts === undefined)
    return isRepeat && bulk.action === "delete" ? removeLog(parts, on.runId) : skipped("deleted");
  const reason = whySkipped(bulk.action, facts);
  if (reason !== undefined && !isRepeat) return skipped(reason);
  const acted = await act(parts, bulk, on, reason);
  probe("bulk.acted");
  return acted;
}

/** An error as an outcome. */
export function failureOf(error: unknown): Acted {
  if (!(error instanceof EngineError)) {
    const message = "An unexpected error. The log of the scheduler has it.";
    return { outcome: "failed", reason: "INTERNAL", message, newRunId: null };
  }
  const skip = SKIPS[error.reason];
  if (skip !== undefined) return skipped(skip);
  const { reason, message } = error;
  return { outcome: "failed", reason, message, newRunId: null };
}

/** `reason` says why the action would not apply, if this act were not a repeat. */
function act(
  parts: ActParts,
  bulk: ActingBulk,
  { runId }: ActOn,
  reason: string | undefined,
): Promise<Acted> | Acted {
  switch (bulk.action) {
    case "cancel":
      return cancel(parts, bulk, runId);
    case "pause":
      return reason === "paused_already" ? done() : pauseOrResume(parts, bulk, "pause", runId);
    case "resume":
      return resume(parts, bulk, runId, reason);
    case "retry":
    case "repair":
      return repair(parts, bulk, runId, reason);
    case "redrive":
      return redriveRun(parts, bulk, runId);
    case "delete":
      return reason === undefined ? remove(parts, runId) : skipped(reason);
    default:
      return unreachable(bulk.action, "action");
  }
}

async function cancel(parts: ActParts, bulk: ActingBulk, runId: RunId): Promise<Acted> {
  const { bulkId, options } = bulk;
  await cancelRun(parts, {
    ...{ runId, requestId: `bulk:${bulkId}`, compensate: options.compensate ?? undefined },
    reason: options.reason || `bulk ${bulkId}`,
  });
  return done();
}

async function pauseOrResume(
  parts: ActParts,
  { options, bulkId }: ActingBulk,
  kind: "pause" | "resume",
  runId: RunId,
): Promise<Acted> {
  const words = { by: options.by, reason: options.reason || `bulk ${bulkId}` };
  await pauseRun(parts, kind, { runId, words, children: false });
  return done();
}

async function resume(
  parts: ActParts,
  bulk: ActingBulk,
  runId: RunId,
  reason: string | undefined,
): Promise<Acted> {
  if (reason === "not_paused") return done();
  const asked = { ...parts, types: undefined };
  // The request id of the new run is that of the old one, so a repeat finds it.
  const continued = await resumeInterrupted(asked, bulk.tenantId, runId);
  if (continued !== undefined) return done(continued.runId);
  return reason === undefined ? pauseOrResume(parts, bulk, "resume", runId) : skipped(reason);
}

async function repair(
  parts: ActParts,
  bulk: ActingBulk,
  runId: RunId,
  reason: string | undefined,
): Promise<Acted> {
  const { tenantId, options, definition, types } = bulk;
  const requestId = `bulk:repair:${runId}`;
  if (reason === "repaired_already") {
    const [found] = await parts.journal.findRequest(tenantId, [requestId]);
    // A caller that is no bulk did it.
    if (found === undefined) return skipped(reason);
  }
  const { latest, fromNodes, keepEffects, by: who } = options;
  const asked: RepairAsked = {
    ...{ runId, fromNodes, fromSeq: 0, text: definition, latest, input: undefined, outputs: [] },
    ...{ keepNodes: [], keepEffects, dryRun: false, planDigest: "", requestId, who },
    // It names the bulk, so the repeat of an act differs from the act of another bulk.
    reason: `${options.reason} (bulk ${bulk.bulkId})`.trimStart(),
  };
  try {
    const { accepted } = await repairRun({ ...parts, types }, tenantId, asked);
    return done(accepted?.runId ?? null);
  } catch (error) {
    const isOfAnother = error instanceof EngineError && error.reason === "REQUEST_ID_REUSED";
    if (isOfAnother) return skipped("repaired_already");
    throw error;
  }
}

async function redriveRun(parts: ActParts, bulk: ActingBulk, runId: RunId): Promise<Acted> {
  const { tenantId, bulkId } = bulk;
  const requestId = `bulk:${bulkId}:${runId}`;
  const ids = await parts.bulks.lettersOf(tenantId, runId);
  if (ids.length === 0) {
    // An empty list of ids would select all letters. The step before may have closed those of this run.
    const [closed] = await parts.deadLetters.closedBy(tenantId, requestId);
    return closed === undefined ? skipped("no_dead_letter") : done(closed.redriveRunId);
  }
  const filter = { ids, workflowId: "", nodeType: "", beforeMs: undefined };
  const asked = { filter, limit: ids.length, pauseMs: 0, requestId };
  const { redriven, left } = await redrive(parts, tenantId, asked);
  const [first] = redriven;
  return first === undefined ? skipped(left[0]?.reason ?? "no_dead_letter") : done(first.runId);
}

/** Removes a finished run, and then its log. After a kill in between the repeat removes the log. */
async function remove(parts: ActParts, runId: RunId): Promise<Acted> {
  const gone = await removeRuns(parts.pool, [runId]);
  if (gone.length > 0) return removeLog(parts, runId);
  throw new EngineError("RUN_CONTENDED", "Another transaction holds the run.", {
    metadata: { run_id: runId },
  });
}

/** Only for a run that has no row any more. */
async function removeLog({ pool }: ActParts, runId: RunId): Promise<Acted> {
  await deleteLogs(pool, [runId]);
  return done();
}
