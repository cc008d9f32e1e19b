// Redrives and discards dead letters. A run that has ended stays ended: a redrive starts a new run of the same version with the same input.
// The request id of the new run names the old run, so repeated redrives start one run, also at once or after a crash. The scheduler closes
// the letter afterwards. A repeat that finds the letter open gets the run that exists. A call is bounded in time. It returns how many
// letters remain, and the same request continues with them.
//
// The letter of a compensation is redriven by a run that only undoes the same execution, with the same values.

import { joinTaint, movedTo } from "@pawl/core/policy/taint";
import { setTimeout as wait } from "node:timers/promises";
import { LIMITS } from "@pawl/core/data/limits";
import { EngineError } from "@pawl/core/fault/engine-error";
import { undoAt } from "@pawl/core/log/undo";
import { isUndo } from "@pawl/core/log/undo-iteration";
import type { RunId } from "@pawl/core/name/ids";
import {
  type DeadLetterFilter,
  type DeadLetters,
  type OpenDeadLetter,
  whyLeft,
} from "@pawl/platform/store/dead-letters/dead-letters";
import type { parseDiscard, parseRedrive } from "@pawl/platform/wire/dead-letter";
import { loadRuns } from "../commit/load-run.ts";
import type { AdmitParts } from "./parts.ts";
import { startRun, startUndoRun } from "./start-run.ts";
import { takenOver } from "./taken-over.ts";

export interface RedriveParts extends AdmitParts {
  readonly deadLetters: DeadLetters;
  /** The clock for the pace. */
  readonly steady: () => number;
}

interface Redriven {
  readonly redriven: { readonly deadLetterId: string; readonly runId: RunId }[];
  readonly left: { readonly reason: string; readonly count: number }[];
  /** How many matching letters can still be redriven, up to a bound. */
  readonly remaining: number;
}

/** @throws STORE_UNAVAILABLE; a repeat with the same request id continues */
export async function redrive(
  parts: RedriveParts,
  tenantId: string,
  { filter, limit, pauseMs, requestId: asked }: ReturnType<typeof parseRedrive>,
): Promise<Redriven> {
  const requestId = asked ?? crypto.randomUUID();
  const before = await parts.deadLetters.closedBy(tenantId, requestId);
  const redriven = before.flatMap(({ deadLetterId, redriveRunId }) =>
    redriveRunId === null ? [] : [{ deadLetterId, runId: redriveRunId }],
  );
  const room = limit - redriven.length;
  const letters = room > 0 ? await parts.deadLetters.open(tenantId, filter, room) : [];
  const seen = new Set([...redriven, ...letters].map((each) => each.deadLetterId));
  const left = new Map<string, number>();
  const leave = (reason: string): void => void left.set(reason, (left.get(reason) ?? 0) + 1);
  if (room > 0) for (const id of filter.ids) if (!seen.has(id)) leave("not_open");
  let dueAt = parts.steady();
  const lastAt = dueAt + LIMITS.redriveMs;
  let lateCount = 0;
  for (const letter of letters) {
    const reason = whyLeft(letter);
    if (reason !== undefined) {
      leave(reason);
      continue;
    }
    const earlyMs = dueAt - parts.steady();
    if (lateCount > 0 || Math.max(dueAt, parts.steady()) > lastAt) {
      lateCount += 1;
      continue;
    }
    if (earlyMs > 0) await wait(earlyMs);
    dueAt = Math.max(dueAt, parts.steady()) + pauseMs;
    const started = await startAgain(parts, tenantId, letter);
    if (typeof started !== "object") {
      leave(started);
      continue;
    }
    const { runId } = started;
    const { deadLetterId } = letter;
    const by = { requestId, redriveRunId: runId };
    const closed = await parts.deadLetters.close(tenantId, [deadLetterId], by);
    if (closed.length > 0) redriven.push({ deadLetterId, runId });
    else leave("not_open");
  }
  // A caller that continues at once keeps the same pace.
  if (lateCount > 0) await wait(Math.max(0, dueAt - parts.steady()));
  const remaining =
    room > 0 && letters.length < room ? lateCount : await countMovable(parts, tenantId, filter);
  return { redriven, left: [...left].map(([reason, count]) => ({ reason, count })), remaining };
}

const countMovable = async (
  { deadLetters }: RedriveParts,
  tenantId: string,
  filter: DeadLetterFilter,
): Promise<number> =>
  (await deadLetters.open(tenantId, filter, LIMITS.deadLettersMax)).filter(
    (letter) => whyLeft(letter) === undefined,
  ).length;

/** Why no run can replace the run of a letter: a user deleted its workflow or its assistant. */
const GONE: Readonly<Partial<Record<string, Gone>>> = {
  WORKFLOW_NOT_FOUND: "workflow_deleted",
  ASSISTANT_NOT_FOUND: "assistant_deleted",
};
type Gone = "workflow_deleted" | "assistant_deleted";
type Started = { readonly runId: RunId } | Gone;

/** The run that replaces the run of the letter. */
async function startAgain(
  parts: RedriveParts,
  tenantId: string,
  letter: OpenDeadLetter,
): Promise<Started> {
  if (isUndo(letter.iteration)) return await undoAgain(parts, tenantId, letter);
  const origin = await parts.deadLetters.originOf(letter.runId);
  const { workflowId, workflowVersion: version, priority } = letter;
  if (origin === undefined || workflowId === null) return "workflow_deleted";
  const requestId = `redrive:${letter.runId}`;
  try {
    const input = await parts.values.whole(letter.runId, origin.input);
    const { started, metadata } = origin;
    const hasUntrustedInput = started.taint !== undefined;
    const request = { workflowId, version, priority, hasUntrustedInput, input, requestId };
    // The run has the same definition, so the lower of both budgets is that of the first run.
    const again = takenOver(started, undefined, metadata);
    return await startRun(parts, tenantId, request, { again });
  } catch (error) {
    const gone = error instanceof EngineError ? GONE[error.reason] : undefined;
    if (gone === undefined) throw error;
    return gone;
  }
}

/** The run that undoes the execution of the letter. It cannot start if a user deleted the workflow, or if the log of its run is damaged. */
async function undoAgain(
  parts: RedriveParts,
  tenantId: string,
  { runId, nodeId, iteration, workflowId, workflowVersion, priority }: OpenDeadLetter,
): Promise<Started> {
  const [found] = await loadRuns(parts, [runId]);
  if (found?.kind !== "folded" || workflowId === null) return "workflow_deleted";
  const { state } = found;
  const row = await parts.workflows.find(tenantId, workflowId, workflowVersion);
  const undo = undoAt(state, state.graph.indexOf.get(nodeId) ?? -1, iteration);
  if (undo === undefined || row === undefined) return "workflow_deleted";
  const taint = movedTo("", joinTaint(state.inputTaint, undo.givenTaint));
  return await startUndoRun(parts, {
    tenantId,
    kind: state.kind,
    definitionId: row.definitionId,
    definitionDigest: row.digest,
    workflowId,
    workflowVersion,
    priority,
    undoes: { runId, nodeId, iteration: undo.iteration },
    input: `{"input":${state.input},"output":${undo.given}}`,
    ...(taint === undefined ? {} : { taint }),
    timeoutMs: state.graph.definition.compensationTimeoutMs,
  });
}

/** Closes open dead letters and starts no run. Returns their ids. @throws STORE_UNAVAILABLE */
export async function discard(
  parts: Pick<RedriveParts, "deadLetters">,
  tenantId: string,
  { filter, limit, requestId: asked }: ReturnType<typeof parseDiscard>,
): Promise<string[]> {
  const requestId = asked ?? crypto.randomUUID();
  const before = await parts.deadLetters.closedBy(tenantId, requestId);
  const discarded = before.flatMap(({ deadLetterId, redriveRunId }) =>
    redriveRunId === null ? [deadLetterId] : [],
  );
  const room = limit - discarded.length;
  if (room <= 0) return discarded;
  const ids = (await parts.deadLetters.open(tenantId, filter, room)).map(
    (letter) => letter.deadLetterId,
  );
  const by = { requestId, redriveRunId: null };
  return [...discarded, ...(await parts.deadLetters.close(tenantId, ids, by))];
}
