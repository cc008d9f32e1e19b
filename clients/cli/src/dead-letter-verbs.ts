// The verbs of `pawl queue` and `pawl dead-letter`.

import type { Command } from "commander";
import {
  deadLetterDiscard,
  deadLetterList,
  deadLetterPreview,
  deadLetterRedrive,
  queueDepth,
} from "./commands/dead-letter.ts";
import type { ExitCode } from "./exit-code.ts";
import { REQUEST_ID } from "./help.ts";
import type { Session } from "./session.ts";

type Action = (session: Session, ...values: never[]) => Promise<ExitCode>;

interface Grammar {
  readonly verb: (noun: Command, name: string, description: string) => Command;
  readonly act: (action: Action) => (this: Command, ...values: unknown[]) => Promise<void>;
  readonly wholeNumber: (text: string) => number;
}

export function deadLetterVerbs(
  program: Command,
  queue: Command,
  { verb, act, wholeNumber }: Grammar,
): void {
  verb(
    queue,
    "depth",
    "Count nodes by type: waiting, running, waiting for a person, given up",
  ).action(act(queueDepth));
  const letter = program
    .command("dead-letter")
    .description("Handle nodes that lost three executors and were given up");
  const which = (command: Command): Command =>
    command
      .option("--workflow <id>", "only runs of this workflow")
      .option("--node-type <type>", "only this node type")
      .option("--before <time>", "only those given up before: 2026-11-16T09:00:00Z")
      .option("--limit <number>", "how many at most", wholeNumber);
  which(verb(letter, "list", "List dead letters, newest first"))
    .option("--state <state...>", "open, redriven or discarded; default open")
    .option("--page-token <token>", "the next page")
    .action(act(deadLetterList));
  which(verb(letter, "preview [ids...]", "Show what a redrive would do; change nothing")).action(
    act(deadLetterPreview),
  );
  which(verb(letter, "redrive [ids...]", "Start their runs again as new runs"))
    .option("--all", "all that are open")
    .option("--max-per-second <number>", "how many a second; default 50", wholeNumber)
    .option("--request-id <id>", REQUEST_ID)
    .action(act(deadLetterRedrive));
  which(verb(letter, "discard [ids...]", "Close them without starting anything"))
    .option("--request-id <id>", REQUEST_ID)
    .action(act(deadLetterDiscard));
}
