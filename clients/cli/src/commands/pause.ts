// pawl run pause, run resume; workflow pause, workflow resume; queue pause, queue resume, queue pauses.

import { plainPause, plainRun, runStatusName } from "@pawl/client";
import { type Pause, PauseScope } from "@pawl/proto/pawl/v1/pause_pb";
import type { Command } from "commander";
import { type PauseFlags, type Verb, pauseFlags } from "../grammar.ts";
import { isoText } from "../render/words.ts";
import { print, printList, type Session } from "../session.ts";

interface Nouns {
  readonly run: Command;
  readonly workflow: Command;
  readonly queue: Command;
}

export function pauseVerbs({ run, workflow, queue }: Nouns, verb: Verb): void {
  const add = (...args: Parameters<Verb>): Command => pauseFlags(verb(...args));
  const pauseText = "Pause a run: running nodes finish, no others start";
  add(run, "pause <run>", pauseText, changeRun("pause")).option(...CHILDREN);
  add(run, "resume <run>", "Resume a paused run", changeRun("resume")).option(...CHILDREN);
  const holdText = "Pause a workflow: no node of its runs starts, old or new; running nodes finish";
  add(workflow, "pause <workflow>", holdText, workflowPause);
  const freeText = "Resume a workflow; runs that were paused one by one stay paused";
  add(workflow, "resume <workflow>", freeText, workflowResume);
  const queueText = "Pause a queue: no node of this type starts; running nodes finish";
  add(queue, "pause <type>", queueText, queuePause);
  add(queue, "resume <type>", "Resume a queue", queueResume);
  verb(queue, "pauses", "List paused queues and workflows", queuePauses);
}

const CHILDREN = ["--children", "also its child runs"] as const;

const changeRun =
  (verb: "pause" | "resume") =>
  async (
    session: Session,
    runId: string,
    { by, reason, children }: PauseFlags & { readonly children?: boolean },
  ): Promise<void> => {
    const options = { by, reason, children, signal: session.interrupted };
    const run = await session.client.runs[verb](runId, options);
    const note = `Running nodes finish. Continue with \`${session.self} run resume ${run.runId}\`.`;
    print(session, plainRun(run), () => [
      `${run.runId} ${runStatusName(run.status)}`,
      ...(verb === "pause" ? [note] : []),
    ]);
  };

/** Pauses every run of a workflow. */
async function workflowPause(session: Session, id: string, flags: PauseFlags): Promise<void> {
  const pause = await session.client.workflows.pause(id, optionsOf(session, flags));
  printPause(session, pause, [
    ...(pause.pausing ? ["Some of its runs are not paused yet; the scheduler pauses them."] : []),
    "Running nodes finish; runs that are started now begin paused.",
    `Continue with \`${session.self} workflow resume ${id}\`.`,
  ]);
}

/** Resumes the runs of a workflow. */
async function workflowResume(session: Session, id: string, flags: PauseFlags): Promise<void> {
  const { resuming } = await session.client.workflows.resume(id, optionsOf(session, flags));
  print(session, { workflowId: id, resuming }, () => [
    `${id} resumed`,
    ...(resuming ? ["Some of its runs are not resumed yet; the scheduler resumes them."] : []),
  ]);
}

/** Stops executors from claiming nodes of a type. */
async function queuePause(session: Session, type: string, flags: PauseFlags): Promise<void> {
  const pause = await session.client.queues.pause(type, optionsOf(session, flags));
  printPause(session, pause, [
    "Running nodes finish; the others wait in the queue. Deadlines of runs still count.",
    `Continue with \`${session.self} queue resume ${type}\`.`,
  ]);
}

/** Lets executors claim nodes of a type again. */
async function queueResume(session: Session, type: string, flags: PauseFlags): Promise<void> {
  await session.client.queues.resume(type, optionsOf(session, flags));
  print(session, { nodeType: type, resumed: true }, () => [`${type} resumed`]);
}

/** The workflows and queues that are paused. */
async function queuePauses(session: Session): Promise<void> {
  const items = await session.client.queues.pauses({ signal: session.interrupted });
  printList(session, {
    items,
    json: { pauses: items.map(plainPause) },
    none: `No queue or workflow is paused. Paused runs: \`${session.self} run list --status paused\`.`,
    heads: ["WHAT", "NAME", "STATE", "SINCE", "BY", "REASON"],
    rowOf: (pause) => [
      pause.scope === PauseScope.QUEUE ? "queue" : "workflow",
      pause.name,
      stateOf(pause),
      isoText(pause.sinceTime),
      pause.by,
      pause.reason,
    ],
  });
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

const printPause = (session: Session, pause: Pause, notes: readonly string[]): void =>
  print(session, plainPause(pause), () => [`${pause.name} paused`, ...notes]);
