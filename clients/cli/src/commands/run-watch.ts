// pawl run watch: follows a run from its start, or from a cursor, to its end.

import { EXIT, type ExitCode } from "../exit-code.ts";
import type { Session } from "../session.ts";
import { createView, followRun } from "./follow.ts";
import { exitCodeOf, printDetached, printEnd } from "./run-end.ts";

/** Exit code 0 when the run completed or the reader left, 1 when it ended otherwise. */
export async function runWatch(
  session: Session,
  runId: string,
  flags: { readonly after?: number },
): Promise<ExitCode> {
  const view = await createView(session, runId);
  const afterEventId = flags.after ?? 0;
  const followed = await followRun(session, runId, { view, afterEventId });
  if (followed.kind === "detached") {
    printDetached(session, runId);
    return EXIT.ok;
  }
  if (session.format === "table") printEnd(session, followed);
  return exitCodeOf(followed.run);
}
