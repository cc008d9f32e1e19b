// pawl run pause, run resume; workflow pause, workflow resume; queue pause, queue resume, queue pauses.

import { timestampDate } from "@bufbuild/protobuf/wkt";
import { plainPause, plainRun, runStatusName } from "@pawl/client";
import { type Pause, PauseScope } from "@pawl/proto/pawl/v1/pause_pb";
import { EXIT, type ExitCode } from "../exit-code.ts";
import { tableLines } from "../render/table.ts";
import { canvasOf, printJson, printLines, type Session } from "../session.ts";

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

/** Holds every run of a workflow. */
export async function workflowPause(
  session: Session,
  workflowId: string,
  flags: PauseFlags,
): Promise<ExitCode> {
  const pause = await session.client.workflows.pause(workflowId, optionsOf(session, flags));
  return printPause(session, pause, [
    pause.pausing ? "Some of its runs have yet to be paused; they are, by themselves." : "",
    "What runs finishes; runs that are started now begin paused.",
    `Let it go on with \`${session.self} workflow resume ${workflowId}\`.`,
  ]);
}

/** Lets the runs of a workflow go on. */
export async function workflowResume(
  session: Session,
  workflowId: string,
  flags: PauseFlags,
): Promise<ExitCode> {
  const { resuming } = await session.client.workflows.resume(workflowId, optionsOf(session, flags));
  if (session.format === "json") printJson(session, { workflowId, resuming });
  else
    printLines(session, [
      `${workflowId} resumed`,
      ...(resuming ? ["Some of its runs have yet to go on; they do, by themselves."] : []),
    ]);
  return EXIT.ok;
}

/** Has nobody claim a node of a type. */
export async function queuePause(
  session: Session,
  nodeType: string,
  flags: PauseFlags,
): Promise<ExitCode> {
  const pause = await session.client.queues.pause(nodeType, optionsOf(session, flags));
  return printPause(session, pause, [
    "What runs finishes; the rest waits in the queue, and deadlines of runs go on.",
    `Let it go on with \`${session.self} queue resume ${nodeType}\`.`,
  ]);
}

/** Lets nodes of a type be claimed again. */
export async function queueResume(
  session: Session,
  nodeType: string,
  flags: PauseFlags,
): Promise<ExitCode> {
  await session.client.queues.resume(nodeType, optionsOf(session, flags));
  if (session.format === "json") printJson(session, { nodeType, resumed: true });
  else printLines(session, [`${nodeType} resumed`]);
  return EXIT.ok;
}

/** The workflows and queues that are paused. */
export async function queuePauses(session: Session): Promise<ExitCode> {
  const pauses = await session.client.queues.pauses({ signal: session.interrupted });
  if (session.format === "json") {
    printJson(session, { pauses: pauses.map(plainPause) });
    return EXIT.ok;
  }
  if (pauses.length === 0) {
    printLines(session, [
      `No queue or workflow is paused. Paused runs: \`${session.self} run list --status paused\`.`,
    ]);
    return EXIT.ok;
  }
  const rows = pauses.map((pause) => [
    { text: pause.scope === PauseScope.QUEUE ? "queue" : "workflow" },
    { text: pause.name },
    { text: stateOf(pause) },
    { text: pause.sinceTime === undefined ? "" : timestampDate(pause.sinceTime).toISOString() },
    { text: pause.by },
    { text: pause.reason },
  ]);
  const heads = ["WHAT", "NAME", "STATE", "SINCE", "BY", "REASON"];
  printLines(session, tableLines(heads, rows, canvasOf(session)));
  return EXIT.ok;
}

function stateOf({ pausing, resuming }: Pause): string {
  if (pausing) return "pausing";
  return resuming ? "resuming" : "paused";
}

const optionsOf = (session: Session, { by, reason }: PauseFlags) => ({
  by,
  reason,
  signal: session.interrupted,
});

function printPause(session: Session, pause: Pause, notes: readonly string[]): ExitCode {
  if (session.format === "json") printJson(session, plainPause(pause));
  else printLines(session, [`${pause.name} paused`, ...notes.filter((note) => note !== "")]);
  return EXIT.ok;
}
