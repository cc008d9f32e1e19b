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
  flags(verb(run, "pause <run>", "start nothing more of a run; what runs finishes"))
    .option("--children", "also the runs below it")
    .action(act(runPause));
  flags(verb(run, "resume <run>", "let a paused run go on"))
    .option("--children", "also the runs below it")
    .action(act(runResume));
  flags(
    verb(
      workflow,
      "pause <workflow>",
      "start nothing more of its runs, old or new; what runs finishes",
    ),
  ).action(act(workflowPause));
  flags(
    verb(workflow, "resume <workflow>", "let its runs go on, but for those paused by themselves"),
  ).action(act(workflowResume));
  flags(verb(queue, "pause <type>", "claim no node of this type; what runs finishes")).action(
    act(queuePause),
  );
  flags(verb(queue, "resume <type>", "let nodes of this type be claimed again")).action(
    act(queueResume),
  );
  verb(queue, "pauses", "list the queues and workflows that are paused").action(act(queuePauses));
}

const flags = (command: Command): Command =>
  command.option("--by <who>", "who, for people").option("--reason <text>", "why, for people");
