// pawl run pause, run resume.

import { plainRun, runStatusName } from "@pawl/client";
import { EXIT, type ExitCode } from "../exit-code.ts";
import { printJson, printLines, type Session } from "../session.ts";

/** Who and why. */
export interface PauseFlags {
  readonly by?: string;
  readonly reason?: string;
}

export const runPause = (
  session: Session,
  runId: string,
  flags: PauseFlags & { readonly children?: boolean },
): Promise<ExitCode> => changeRun(session, "pause", runId, flags);

export const runResume = (
  session: Session,
  runId: string,
  flags: PauseFlags & { readonly children?: boolean },
): Promise<ExitCode> => changeRun(session, "resume", runId, flags);

async function changeRun(
  session: Session,
  verb: "pause" | "resume",
  runId: string,
  flags: PauseFlags & { readonly children?: boolean },
): Promise<ExitCode> {
  const { by, reason, children } = flags;
  const options = { by, reason, children, signal: session.interrupted };
  const run = await session.client.runs[verb](runId, options);
  if (session.format === "json") {
    printJson(session, plainRun(run));
    return EXIT.ok;
  }
  printLines(session, [`${run.runId} ${runStatusName(run.status)}`]);
  if (verb === "pause")
    printLines(session, [
      `What runs finishes. Let it go on with \`${session.self} run resume ${run.runId}\`.`,
    ]);
  return EXIT.ok;
}
