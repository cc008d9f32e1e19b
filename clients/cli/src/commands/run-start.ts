// pawl run start, pawl run test: accepts a run, says where to see it, and waits for its end when asked.

import { type StartedRun, jsonOf, plainRun, runStatusName } from "@pawl/client";
import { readFileText } from "../file-text.ts";
import { EXIT, type ExitCode } from "../exit-code.ts";
import { parseDuration } from "../render/duration.ts";
import { type InputFlags, readRunInput } from "../run-input.ts";
import { type Session, printJson, printLines, printNotes, runUrl } from "../session.ts";
import { UsageError } from "../usage-error.ts";
import { printWarnings, withDefinition } from "./definition-faults.ts";
import { createView, followRun, silentView } from "./follow.ts";
import { exitCodeOf, printDetached, printEnd } from "./run-end.ts";

export interface StartFlags extends InputFlags {
  readonly wait?: boolean | undefined;
  readonly requestId?: string | undefined;
  readonly version?: number | undefined;
  readonly priority?: number | undefined;
  readonly deadline?: string | undefined;
  readonly dedupeInput?: string | undefined;
}

/** Starts a run of a saved workflow. */
export async function runStart(
  session: Session,
  workflowId: string,
  flags: StartFlags,
): Promise<ExitCode> {
  const { client, interrupted: signal } = session;
  const { requestId, version, priority } = flags;
  const inputJson = await readRunInput(session, flags, async () => {
    const workflow = await client.workflows.get(workflowId, { version: version ?? 0, signal });
    return jsonOf(workflow.definitionJson);
  });
  const started = await client.runs.start(workflowId, {
    inputJson,
    requestId,
    version,
    priority,
    deadlineMs: durationMs("--deadline", flags.deadline),
    dedupeInputMs: durationMs("--dedupe-input", flags.dedupeInput),
    signal,
  });
  return afterStart(session, started, flags);
}

/** Runs a graph that is not saved. */
export async function runTest(
  session: Session,
  flags: StartFlags & { readonly file: string },
): Promise<ExitCode> {
  const definition = await readFileText(session, flags.file);
  const { client, interrupted: signal } = session;
  const inputJson = await readRunInput(
    session,
    flags,
    async () => (await client.workflows.validate(definition, { signal })).definition,
  );
  const { requestId } = flags;
  const { file } = flags;
  return await withDefinition(session, { file, text: definition }, async () => {
    const started = await client.runs.test(definition, { inputJson, requestId, signal });
    printWarnings(session, file, started.warnings);
    return await afterStart(session, started, flags);
  });
}

function durationMs(flag: string, text: string | undefined): number | undefined {
  if (text === undefined) return undefined;
  const ms = parseDuration(text);
  if (ms === undefined) throw new UsageError(`${flag} ${text}: write it as 30s, 10m or 2h`);
  return ms;
}

async function afterStart(
  session: Session,
  { run, isDuplicate }: StartedRun,
  flags: StartFlags,
): Promise<ExitCode> {
  const { runId } = run;
  const url = runUrl(session, runId);
  const isJson = session.format === "json";
  // Without a terminal a script reads what the run gives: everything else stays beside it.
  const print = flags.wait === true && !session.terminal.isTty ? printNotes : printLines;
  if (!isJson) {
    print(session, [
      `${runId}${isDuplicate ? "  (accepted before; nothing new was started)" : ""}`,
      url,
    ]);
  }
  if (flags.wait !== true) {
    const { status } = run;
    if (isJson) printJson(session, { runId, url, status: runStatusName(status), isDuplicate });
    return EXIT.ok;
  }
  // A script that waits wants one answer: the run as it ended.
  const view = isJson ? silentView : await createView(session, runId, print);
  const followed = await followRun(session, runId, { view });
  if (followed.kind === "detached") {
    printDetached(session, runId);
    return EXIT.interrupted;
  }
  if (isJson) printJson(session, { ...plainRun(followed.run), url });
  else printEnd(session, followed);
  return exitCodeOf(followed.run);
}
