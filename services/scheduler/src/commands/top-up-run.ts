// Raises the budget of a run. The scheduler answers after the commit.

import { LIMITS } from "@pawl/core/data/limits";
import { EngineError } from "@pawl/core/fault/engine-error";
import { unreachable } from "@pawl/core/fault/invariant";
import type { RunId } from "@pawl/core/name/ids";
import type { Raise } from "@pawl/core/plan/raise";
import { runNotFound } from "@pawl/platform/wire/run";
import { requestReused, runFinished } from "../inputs/errors.ts";
import type { RaiseAnswer } from "../inputs/input.ts";
import type { AdmitParts } from "./parts.ts";

/** @throws RUN_NOT_FOUND, RUN_ALREADY_FINISHED, REQUEST_ID_REUSED, BUDGET_NOT_LIMITED, LIMIT_EXCEEDED */
export async function topUpRun(
  { loop }: AdmitParts,
  { runId, raise }: { readonly runId: RunId; readonly raise: Raise },
): Promise<RunId> {
  const answer = await loop.ask<RaiseAnswer>((settle) => ({
    ...{ kind: "raise", runId, raise },
    answer: settle,
  }));
  if (answer === "raised" || answer === "repeated") return runId;
  throw refusalOf(answer, runId, raise);
}

function refusalOf(
  answer: Exclude<RaiseAnswer, "raised" | "repeated">,
  runId: RunId,
  raise: Raise,
): EngineError {
  const metadata = { run_id: runId };
  switch (answer) {
    case "no_run":
      return runNotFound(runId);
    case "finished":
      return runFinished(metadata);
    case "reused":
      return requestReused({ ...metadata, request_id: raise.requestId });
    case "not_limited":
      return new EngineError(
        "BUDGET_NOT_LIMITED",
        "The run has no budget of what the request would raise.",
        { metadata },
      );
    case "too_many":
      return new EngineError(
        "LIMIT_EXCEEDED",
        `The budget of a run is raised at most ${LIMITS.budgetRaises} times.`,
        { metadata: { ...metadata, limit: "budget_raises" } },
      );
    default:
      return unreachable(answer, "answer");
  }
}
