// The verbs that start or follow a run: pawl run start, pawl run test, pawl run watch. They print its address, and wait for its end.

import {
  type Json,
  jsonOf,
  type Multitask,
  plainRun,
  runStatusName,
  type RunWithDefinition,
  sampleInputOf,
  type StartedRun,
  type ThreadRelease,
} from "@pawl/client";
import type { Command } from "commander";
import { NodeStatus, type Run, RunStatus } from "@pawl/proto/pawl/v1/run_pb";
import {
  endlessCanvas,
  EXIT,
  type ExitCode,
  printJson,
  printLines,
  printNotes,
  printPretty,
  readFileText,
  runUrl,
  type Session,
  UsageError,
} from "../session.ts";
import { type BudgetFlags, budgetFlags, budgetOf } from "../budget-flags.ts";
import { durationMs, timeFlags, type TimeFlags, timeOf } from "../time-flags.ts";
import { type WebhookFlags, webhookFlags, webhookOf } from "../webhook-flags.ts";
import { collect, wholeNumber } from "../grammar.ts";
import { classText } from "../render/words.ts";
import { paintLine, statusSpan } from "../render/spans.ts";
import { type InputFlags, readRunInput } from "../run-input.ts";
import { printWarnings, withDefinition } from "./definition-faults.ts";
import { metadataOf } from "./run-metadata.ts";
import { modesOf, streamModes } from "./run-stream.ts";
import { createView, followRun, silentView } from "./follow.ts";
import { treeRows } from "../render/tree.ts";

interface StartFlags extends InputFlags, BudgetFlags, WebhookFlags, TimeFlags {
  readonly wait?: boolean;
  readonly requestId?: string;
  readonly version?: number;
  readonly metadata?: readonly string[];
  readonly priority?: number;
  readonly dedupeInput?: string;
  readonly untrustedInput?: boolean;
  readonly goal?: string;
  readonly constraint?: readonly string[];
  readonly maxIterations?: number;
  readonly maxRetries?: number;
  readonly thread?: string;
  readonly createThread?: boolean;
  readonly multitask?: Multitask;
  readonly assistant?: string;
  readonly threadRelease?: ThreadRelease;
}

/** The flags of a start beside its input. */
export const startFlags = (command: Command): Command =>
  webhookFlags(budgetFlags(timeFlags(command)))
    .option("--version <number>", "which version; default the newest", wholeNumber)
    .option("--metadata <key=value>", "what to find it by; may be repeated", collect)
    .option("--priority <number>", "-1000 to 1000; lower numbers run first", wholeNumber)
    .option(
      "--dedupe-input <duration>",
      "do not start a second run for the same input within this time, such as 24h",
    );

/** What the flags set in place of the definition's own. */
const askedOf = ({ goal, constraint: constraints, maxIterations, maxRetries }: StartFlags) => ({
  goal,
  constraints,
  maxIterations,
  maxRetries,
});

/** Starts a run of a saved workflow. */
export async function runStart(
  session: Session,
  named: string | undefined,
  flags: StartFlags,
): Promise<ExitCode> {
  const { client, interrupted: signal } = session;
  const { assistant: assistantId } = flags;
  if ((named ?? assistantId ?? flags.thread) === undefined)
    throw new UsageError("Name a workflow, or --assistant ID, or --thread ID of one that has one.");
  const workflowId = named ?? "";
  const { requestId, version, priority, untrustedInput } = flags;
  const { thread: threadId, createThread, multitask, threadRelease } = flags;
  const inputJson = await readRunInput(session, flags, async () => {
    const of = await sampledWorkflow(session, workflowId, flags);
    return jsonOf((await client.workflows.get(of.workflowId, { ...of, signal })).definitionJson);
  });
  const started = await client.runs.start(workflowId, {
    ...askedOf(flags),
    ...webhookOf(flags),
    inputJson,
    metadata: metadataOf(flags.metadata),
    requestId,
    version,
    priority,
    untrustedInput,
    ...{ threadId, createThread, multitask, threadRelease, assistantId },
    ...timeOf(flags),
    dedupeInputMs: durationMs("--dedupe-input", flags.dedupeInput),
    budget: budgetOf(flags),
    signal,
  });
  return afterStart(session, started, flags);
}

/** The workflow whose sample is the input. */
async function sampledWorkflow(
  { client, interrupted: signal }: Session,
  workflowId: string,
  { version, assistant, thread }: StartFlags,
) {
  if (workflowId !== "") return { workflowId, version };
  const ofThread = async (): Promise<string> =>
    (await client.threads.get(thread ?? "", { signal })).assistantId;
  const { spec } = await client.assistants.get(assistant ?? (await ofThread()), { signal });
  return { workflowId: spec?.workflowId ?? "", version: spec?.workflowVersion };
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
  const { requestId, file, untrustedInput } = flags;
  return await withDefinition(session, { file, text: definition }, async () => {
    const started = await client.runs.test(definition, {
      ...{ ...askedOf(flags), inputJson, requestId, untrustedInput, signal },
      ...timeOf(flags),
      budget: budgetOf(flags),
    });
    printWarnings(session, file, started.warnings);
    return await afterStart(session, started, flags);
  });
}

/** Follows a run from its start, or from a cursor. Exit code 0 if it completed or the reader detached, otherwise 1. */
export async function runWatch(
  session: Session,
  runId: string,
  { mode = [], ...flags }: WatchFlags,
): Promise<ExitCode> {
  const { after: afterEventId, node: nodeIds, nodeType: nodeTypes } = flags;
  const filter = { afterEventId, nodeIds, nodeTypes };
  if (mode.length > 0) return streamModes(session, runId, { ...filter, modes: modesOf(mode) });
  const hasFilter = nodeIds !== undefined || nodeTypes !== undefined;
  if (hasFilter) return streamModes(session, runId, { ...filter, modes: ["debug"] });
  const view = await createView(session, runId);
  const followed = await followRun(session, runId, { view, afterEventId });
  if (followed.kind === "detached") {
    printDetached(session, runId);
    return EXIT.ok;
  }
  if (session.format === "table") printEnd(session, followed);
  return exitCodeOf(followed.run);
}

interface WatchFlags {
  readonly after?: number;
  readonly mode?: readonly string[];
  readonly node?: readonly string[];
  readonly nodeType?: readonly string[];
}

/** Prints the address of a run that was accepted and, with --wait, follows it to its end. */
export async function afterStart(
  session: Session,
  { run, isDuplicate }: StartedRun,
  flags: Pick<StartFlags, "wait">,
): Promise<ExitCode> {
  const { runId } = run;
  const url = runUrl(session, runId);
  const isJson = session.format === "json";
  // Without a terminal a script reads the output of the run. All other text goes to standard error.
  const print = flags.wait === true && !session.terminal.isTty ? printNotes : printLines;
  if (!isJson) {
    print(session, [
      `${runId}${isDuplicate ? "  (the gateway accepted this request before; no new run was started)" : ""}`,
      url,
    ]);
  }
  if (flags.wait !== true) {
    const { status } = run;
    if (isJson) printJson(session, { runId, url, status: runStatusName(status), isDuplicate });
    return EXIT.ok;
  }
  // A script that waits gets one answer: the run in its final state.
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

/** 0 if the run completed, otherwise 1. */
const exitCodeOf = (run: Run): ExitCode =>
  run.status === RunStatus.COMPLETED ? EXIT.ok : EXIT.failed;

/** Prints how the run ended, and its output or the next step. */
function printEnd(session: Session, { run, definition }: RunWithDefinition): void {
  // A redrawn tree already shows the end.
  if (!session.terminal.isTty) {
    const error = run.errorMessage === "" ? "" : `: ${run.errorMessage}`;
    const head = [statusSpan(runStatusName(run.status)), { text: error }];
    printNotes(session, [paintLine(head, endlessCanvas(session))]);
  }
  if (run.status === RunStatus.COMPLETED) {
    const output = jsonOf(run.outputJson);
    if (output !== undefined) printPretty(session, output);
    return;
  }
  const sample = sampleCommand(session.self, run, definition);
  const cause = classText(run);
  printNotes(session, [
    ...(cause === "" ? [] : [`Cause: ${cause}.`]),
    `See why with \`${session.self} run get ${run.runId}\`.`,
    ...(sample === "" ? [] : [`This workflow has a sample input: \`${sample}\`.`]),
  ]);
}

/** Prints how to follow a run that continues. */
function printDetached(session: Session, runId: string): void {
  const flag = session.address === session.defaultAddress ? "" : ` --address ${session.address}`;
  printNotes(session, [
    "",
    "Detached; the run continues. Watch it again with:",
    `  ${session.self} run watch ${runId}${flag}`,
    "or stop it with:",
    `  ${session.self} run cancel ${runId}${flag}`,
  ]);
}

/** The command that starts the workflow with its sample. Empty if the input is not the fault, or if there is no sample. */
export function sampleCommand(self: string, run: Run, definition: Json | undefined): string {
  const isAtFault = isEmpty(jsonOf(run.inputJson)) || hasStartFailed(run, definition);
  if (run.status !== RunStatus.FAILED || !isAtFault) return "";
  if (sampleInputOf(definition) === undefined) return "";
  return run.workflowId === ""
    ? `${self} run test -f FILE --sample`
    : `${self} run start ${run.workflowId} --sample`;
}

const isEmpty = (input: Json | undefined): boolean =>
  input === undefined ||
  input === null ||
  (typeof input === "object" && Object.keys(input).length === 0);

/** A start node only checks the input against its contract. */
function hasStartFailed({ nodes }: Run, definition: Json | undefined): boolean {
  const start = treeRows(definition).find(({ type }) => type === "start");
  return nodes.some(
    ({ nodeId, status }) => nodeId === start?.nodeId && status === NodeStatus.FAILED,
  );
}
