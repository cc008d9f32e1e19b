// What is said, and with which exit code, once a run was followed.

import { type RunWithDefinition, jsonOf, runStatusName } from "@pawl/client";
import { type Run, RunStatus } from "@pawl/proto/pawl/v1/run_pb";
import { EXIT, type ExitCode } from "../exit-code.ts";
import { type Span, paintLine } from "../render/spans.ts";
import { statusSpan } from "../render/symbols.ts";
import { type Session, printLines, printNotes } from "../session.ts";
import { sampleCommand } from "./sample-hint.ts";

/** 0 when the run completed, else 1. */
export const exitCodeOf = (run: Run): ExitCode =>
  run.status === RunStatus.COMPLETED ? EXIT.ok : EXIT.failed;

/** How the run ended, and its output or what to look at. */
export function printEnd(session: Session, { run, definition }: RunWithDefinition): void {
  const canvas = { width: Number.MAX_SAFE_INTEGER, hasColour: session.terminal.hasColour };
  // A redrawn tree says it already.
  if (!session.terminal.isTty) {
    const head: Span[] = [statusSpan(runStatusName(run.status))];
    if (run.errorMessage !== "") head.push({ text: `: ${run.errorMessage}` });
    printNotes(session, [paintLine(head, canvas)]);
  }
  if (run.status === RunStatus.COMPLETED) {
    const output = jsonOf(run.outputJson);
    if (output !== undefined) {
      const lines = JSON.stringify(output, undefined, 2).split("\n");
      printLines(
        session,
        lines.map((line) => paintLine([{ text: line }], canvas)),
      );
    }
  } else {
    const sample = sampleCommand(session.self, run, definition);
    printNotes(session, [
      `See why with \`${session.self} run get ${run.runId}\`.`,
      ...(sample === "" ? [] : [`This workflow has a sample input: \`${sample}\`.`]),
    ]);
  }
}

/** How to come back to a run that goes on. */
export function printDetached(session: Session, runId: string): void {
  const flag = session.address === session.defaultAddress ? "" : ` --address ${session.address}`;
  session.terminal.writeError(
    `\nDetached; the run continues. Watch it again with:\n  ${session.self} run watch ${runId}${flag}\n` +
      `or stop it with:\n  ${session.self} run cancel ${runId}${flag}\n`,
  );
}
