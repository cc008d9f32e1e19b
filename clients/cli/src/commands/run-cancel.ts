// pawl run cancel: ends a run, plainly, by an interrupt or by a rollback.

import { plainRun, runStatusName } from "@pawl/client";
import { print, type Session, UsageError } from "../session.ts";

interface CancelFlags {
  readonly reason?: string;
  readonly compensate?: boolean;
  readonly interrupt?: boolean;
  readonly rollback?: boolean;
}

export async function runCancel(
  session: Session,
  runId: string,
  { reason = "cancelled from the command line", compensate, interrupt, rollback }: CancelFlags,
): Promise<void> {
  if (interrupt === true && rollback === true)
    throw new UsageError("Give --interrupt or --rollback, not both.");
  const signal = session.interrupted;
  const stop = rollback === true ? "rollback" : undefined;
  const mode = interrupt === true ? "interrupt" : stop;
  const run = await session.client.runs.cancel(runId, { reason, compensate, mode, signal });
  print(session, plainRun(run), () => [`${run.runId} ${runStatusName(run.status)}`]);
}
