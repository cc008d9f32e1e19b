// Pauses and resumes runs. The answer comes after the commit: by then nothing of a paused run can be claimed any more.

import { LIMITS } from "@pawl/core/data/limits";
import { EngineError } from "@pawl/core/fault/engine-error";
import { unreachable } from "@pawl/core/fault/invariant";
import type { PauseNote } from "@pawl/core/log/event";
import type { RunId } from "@pawl/core/name/ids";
import { requestIdOf } from "@pawl/platform/wire/request-id";
import type { KnownPauses } from "../commit/known-pauses.ts";
import type { PauseAnswer } from "../inputs/input.ts";
import { cleanText } from "../sessions/wire.ts";
import { submitPause } from "./submit-pause.ts";
import type { AdmitParts } from "./parts.ts";
import { runIdOf } from "./request.ts";

interface PauseRequest {
  readonly runId: string;
  readonly by: string;
  readonly reason: string;
  readonly requestId: string;
  readonly children: boolean;
}

/** Runs below a run that one command looks at; deeper ones are paused by asking again. */
const CHILDREN_MAX = 1_000;

/** Pauses or resumes a run. @throws RUN_NOT_FOUND, RUN_ALREADY_FINISHED, WORKFLOW_PAUSED, INPUT_INVALID */
export async function pauseRun(
  parts: AdmitParts & { readonly known: KnownPauses },
  kind: "pause" | "resume",
  request: PauseRequest,
): Promise<RunId> {
  const runId = runIdOf(request.runId);
  requestIdOf(request.requestId);
  const note = noteOf(request, "run");
  let answer = await submitPause(parts, kind, runId, note);
  if (answer === "held_by_workflow") {
    // Nothing proves a refusal: the workflow may have been resumed elsewhere.
    await parts.known.reload();
    answer = await submitPause(parts, kind, runId, note);
  }
  if (answer !== "done") throw refusalOf(answer, runId);
  if (request.children) await pauseChildren(parts, kind, runId, note);
  return runId;
}

/** Who and why, in words that fit a line. */
const noteOf = (
  request: Pick<PauseRequest, "by" | "reason">,
  scope: PauseNote["scope"],
): PauseNote => ({
  scope,
  who: cleanText(request.by, LIMITS.labelLength),
  reason: cleanText(request.reason, LIMITS.labelLength),
});

/** The runs below, level by level. What has ended meanwhile, or is held by its workflow, is left as it is. */
async function pauseChildren(
  parts: AdmitParts,
  kind: "pause" | "resume",
  runId: RunId,
  note: PauseNote,
): Promise<void> {
  let level = await parts.journal.liveChildren([runId], CHILDREN_MAX);
  while (level.length > 0) {
    await Promise.all(level.map((child) => submitPause(parts, kind, child, note)));
    level = await parts.journal.liveChildren(level, CHILDREN_MAX);
  }
}

function refusalOf(answer: Exclude<PauseAnswer, "done">, runId: RunId): EngineError {
  const metadata = { run_id: runId };
  switch (answer) {
    case "no_run":
      return new EngineError("RUN_NOT_FOUND", `There is no run ${runId}.`, { metadata });
    case "finished":
      return new EngineError("RUN_ALREADY_FINISHED", "The run has ended; nothing was changed.", {
        metadata,
      });
    case "held_by_workflow":
      return new EngineError(
        "WORKFLOW_PAUSED",
        "The run is held by its workflow; resume the workflow.",
        { metadata },
      );
    default:
      return unreachable(answer, "answer");
  }
}
