// The verbs that pause and resume, of runs, workflows and queues.

import type { Command } from "commander";
import {
  queuePause,
  queuePauses,
  queueResume,
  runPause,
  runResume,
  workflowPause,
  workflowResume,
} from "./commands/pause.ts";
import type { ExitCode } from "./exit-code.ts";
import type { Session } from "./session.ts";

type Action = (session: Session, ...values: never[]) => Promise<ExitCode>;

interface Grammar {
  readonly verb: (noun: Command, name: string, description: string) => Command;
  readonly act: (action: Action) => (this: Command, ...values: unknown[]) => Promise<void>;
}

interface Nouns {
  readonly run: Command;
  readonly workflow: Command;
  readonly queue: Command;
}

export function pauseVerbs({ run, workflow, queue }: Nouns, { verb, act }: Grammar): void {
  flags(verb(run, "pause <run>", "Pause a run: running nodes finish, no others start"))
    .option("--children", "also its child runs")
    .action(act(runPause));
  flags(verb(run, "resume <run>", "Resume a paused run"))
    .option("--children", "also its child runs")
    .action(act(runResume));
  flags(
    verb(
      workflow,
      "pause <workflow>",
      "Pause a workflow: no node of its runs starts, old or new; running nodes finish",
    ),
  ).action(act(workflowPause));
  flags(
    verb(
      workflow,
      "resume <workflow>",
      "Resume a workflow; runs that were paused one by one stay paused",
    ),
  ).action(act(workflowResume));
  flags(
    verb(queue, "pause <type>", "Pause a queue: no node of this type starts; running nodes finish"),
  ).action(act(queuePause));
  flags(verb(queue, "resume <type>", "Resume a queue")).action(act(queueResume));
  verb(queue, "pauses", "List paused queues and workflows").action(act(queuePauses));
}

const flags = (command: Command): Command =>
  command
    .option("--by <who>", "your name; shown to people")
    .option("--reason <text>", "why; shown to people");
