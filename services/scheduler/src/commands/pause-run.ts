// Pauses and resumes runs. The scheduler answers after the commit. From then on no executor can claim a node of a paused run.

import { EngineError } from "@pawl/core/fault/engine-error";
import { unreachable } from "@pawl/core/fault/invariant";
import type { PauseNote } from "@pawl/core/log/event";
import type { RunId } from "@pawl/core/name/ids";
import type { PauseWords } from "@pawl/platform/store/pauses/pauses";
import { runNotFound } from "@pawl/platform/wire/run";
import type { KnownPauses } from "../commit/pauses.ts";
import { runFinished } from "../inputs/errors.ts";
import type { PauseAnswer, PauseInput } from "../inputs/input.ts";
import type { TickLoop } from "../tick/loop.ts";
import type { AdmitParts } from "./parts.ts";

interface PauseRequest {
  readonly runId: RunId;
  readonly words: PauseWords;
  readonly children: boolean;
}

/** Child runs that one command pauses. The same command again pauses deeper ones. */
const CHILDREN_MAX = 1_000;

/** Submits the pause or the resumption of one run to the tick. @throws RUN_QUARANTINED, STORE_UNAVAILABLE, DRAINING, RUN_CONTENDED */
export const askPause = (
  { loop }: { readonly loop: TickLoop },
  kind: PauseInput["kind"],
  runId: RunId,
  note: PauseNote,
): Promise<PauseAnswer> => loop.ask((answer) => ({ kind, runId, note, answer }));

/** @throws RUN_NOT_FOUND, RUN_ALREADY_FINISHED, WORKFLOW_PAUSED */
export async function pauseRun(
  parts: AdmitParts & { readonly known: KnownPauses },
  kind: PauseInput["kind"],
  { runId, words, children }: PauseRequest,
): Promise<RunId> {
  const note: PauseNote = { scope: "run", who: words.by, reason: words.reason };
  let answer = await askPause(parts, kind, runId, note);
  if (answer === "held_by_workflow") {
    // No commit proves a refusal: another scheduler may have resumed the workflow.
    await parts.known.reload();
    answer = await askPause(parts, kind, runId, note);
  }
  if (answer !== "done") throw refusalOf(answer, runId);
  // Pauses child runs level by level. A child run that has ended, or that the pause of its workflow holds, stays as it is.
  let level = children ? await parts.journal.liveChildren([runId], CHILDREN_MAX) : [];
  while (level.length > 0) {
    await Promise.all(level.map((child) => askPause(parts, kind, child, note)));
    level = await parts.journal.liveChildren(level, CHILDREN_MAX);
  }
  return runId;
}

function refusalOf(answer: Exclude<PauseAnswer, "done">, runId: RunId): EngineError {
  switch (answer) {
    case "no_run":
      return runNotFound(runId);
    case "finished":
      return runFinished({ run_id: runId });
    case "held_by_workflow":
      return new EngineError(
        "WORKFLOW_PAUSED",
        "The run is held by its workflow; resume the workflow.",
        { metadata: { run_id: runId } },
      );
    default:
      return unreachable(answer, "answer");
  }
}
