// Decides about a node that waits for a person.

import { plainRun, runStatusName } from "@pawl/client";
import { EXIT, type ExitCode } from "../exit-code.ts";
import { printJson, printLines, type Session } from "../session.ts";
import { UsageError } from "../usage-error.ts";

/** Approves or rejects; exits with 0 when the decision stands. */
export async function runDecide(
  session: Session,
  runId: string,
  nodeId: string,
  decision: string,
  flags: { readonly iteration?: number; readonly comment?: string },
): Promise<ExitCode> {
  if (decision !== "approve" && decision !== "reject")
    throw new UsageError(`The decision is approve or reject, not ${decision}.`);
  const { iteration, comment } = flags;
  const run = await session.client.runs.decide(runId, nodeId, decision, {
    iteration,
    comment,
    signal: session.interrupted,
  });
  if (session.format === "json") printJson(session, plainRun(run));
  else printLines(session, [`${nodeId} ${decision}; the run is ${runStatusName(run.status)}`]);
  return EXIT.ok;
}
