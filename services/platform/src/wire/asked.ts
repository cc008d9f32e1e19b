// What a caller sets for one run in place of its definition's own. The gateway and the scheduler refuse the same values.

import { LIMITS } from "@pawl/core/data/limits";
import { JSON_FAULTS } from "@pawl/core/data/scan-json";
import { invalidField } from "@pawl/core/fault/engine-error";
import type { AskedOfRun } from "@pawl/core/log/start";
import type { StartRunRequest, TestRunRequest } from "@pawl/proto/pawl/v1/run_service_pb";

type Asked = Pick<
  StartRunRequest | TestRunRequest,
  "goal" | "constraints" | "maxIterations" | "maxRetries"
>;

/** What the caller sets for its run. A field that is empty is not set. @throws INPUT_INVALID */
export function askedOf(request: Asked): AskedOfRun {
  const { goal, constraints, maxIterations, maxRetries } = request;
  if (maxIterations > LIMITS.iterationsMax)
    throw invalidField("max_iterations", "OUT_OF_RANGE", `at most ${LIMITS.iterationsMax}`);
  if (maxRetries !== undefined && maxRetries >= LIMITS.attemptsMax)
    throw invalidField("max_retries", "OUT_OF_RANGE", `at most ${LIMITS.attemptsMax - 1}`);
  if (constraints.length > LIMITS.constraints)
    throw invalidField("constraints", "TOO_MANY", `at most ${LIMITS.constraints}`);
  constraints.forEach((each, at) => {
    if (each === "") throw invalidField(`constraints[${at}]`, "EMPTY", "must not be empty");
    checkText(`constraints[${at}]`, each, LIMITS.constraintLength);
  });
  checkText("goal", goal, LIMITS.goalLength);
  return {
    ...(maxIterations === 0 ? {} : { maxIterations }),
    ...(maxRetries === undefined ? {} : { maxRetries }),
    ...(goal === "" ? {} : { goal }),
    ...(constraints.length === 0 ? {} : { constraints: [...constraints] }),
  };
}

function checkText(field: string, text: string, max: number): void {
  if (text.length > max) throw invalidField(field, "TOO_LONG", `at most ${max} characters`);
  if (text.includes("\0")) throw invalidField(field, "NUL_CHARACTER", JSON_FAULTS.NUL_CHARACTER);
}
