// What a new run takes over from the finished run that it repairs, continues or redrives. It is what the caller and the assistant set in
// place of the definition, and the labels of the input. Raises of the budget stay with the finished run: a person allowed them for that run.

import type { AssistantLink } from "@pawl/core/log/assistant";
import type { FactOf } from "@pawl/core/log/event";
import type { AskedOfRun } from "@pawl/core/log/start";
import { type AskedBudget, loweredOf } from "@pawl/core/policy/budget";
import type { Taint } from "@pawl/core/policy/taint";

export interface TakenOver {
  readonly asked: AskedOfRun;
  readonly deadlineMs?: number;
  readonly assistant?: AssistantLink;
  readonly budget?: AskedBudget;
  readonly taint?: Taint;
  /** The text of a JSON object. */
  readonly metadata?: string;
}

/** `ownBudget` is that of the definition of the finished run. */
export function takenOver(
  started: FactOf<"run.started">["payload"],
  ownBudget: AskedBudget | undefined,
  metadata: string | undefined,
): TakenOver {
  const { deadlineMs, maxIterations, maxRetries, goal, constraints, assistant, taint } = started;
  const deadline = deadlineMs === undefined ? {} : { deadlineMs };
  const budget = loweredOf(ownBudget, started.budget);
  return {
    asked: {
      ...deadline,
      ...(maxIterations === undefined ? {} : { maxIterations }),
      ...(maxRetries === undefined ? {} : { maxRetries }),
      ...(goal === undefined ? {} : { goal }),
      ...(constraints === undefined ? {} : { constraints }),
    },
    ...deadline,
    ...(assistant === undefined ? {} : { assistant }),
    ...(budget === undefined ? {} : { budget }),
    ...(taint === undefined ? {} : { taint }),
    ...(metadata === undefined ? {} : { metadata }),
  };
}
