// The verbs of `pawl schedule`.

import { type Command, Option } from "commander";
import {
  scheduleCreate,
  scheduleDelete,
  scheduleGet,
  scheduleList,
  schedulePause,
  schedulePreview,
  scheduleResume,
  scheduleTrigger,
  scheduleUpdate,
} from "./commands/schedule.ts";
import type { ExitCode } from "./exit-code.ts";
import type { Session } from "./session.ts";

type Action = (session: Session, ...values: never[]) => Promise<ExitCode>;

/** What the nouns share. */
export interface Grammar {
  readonly verb: (noun: Command, name: string, description: string) => Command;
  readonly act: (action: Action) => (this: Command, ...values: unknown[]) => Promise<void>;
  readonly wholeNumber: (text: string) => number;
  readonly collect: (value: string, before: readonly string[] | undefined) => readonly string[];
}

export function scheduleVerbs(program: Command, grammar: Grammar): void {
  const { verb, act, wholeNumber, collect } = grammar;
  const schedule = program.command("schedule").description("run workflows at set times");
  const when = (command: Command): Command =>
    command
      .option("--cron <expression>", "five fields, six with seconds first, or a macro like @daily")
      .option("--rrule <rule>", "an RFC 5545 rule, such as FREQ=WEEKLY;BYDAY=MO;BYHOUR=9")
      .option("--time-zone <zone>", "an IANA time zone; default UTC");
  const spec = (command: Command): Command =>
    when(command)
      .option("--workflow <id>", "what to run")
      .option("--version <number>", "which version; default the newest each time", wholeNumber)
      .option("--input <json>", "the input of every run: JSON, or @FILE")
      .option("--set <key=value>", "set one key of the input; may be repeated", collect)
      .option("--priority <number>", "sooner for lower numbers; -1000 to 1000", wholeNumber)
      .addOption(
        new Option("--missed <policy>", "about what came due while nothing ran").choices([
          "skip",
          "run_once",
          "run_all",
        ]),
      )
      .addOption(
        new Option("--overlap <policy>", "while the run before lives").choices(["allow", "skip"]),
      );
  spec(verb(schedule, "create <schedule>", "run a workflow at set times"))
    .option("--request-id <id>", "makes a repeat harmless")
    .action(act(scheduleCreate));
  spec(verb(schedule, "update <schedule>", "change what is named, keep the rest")).action(
    act(scheduleUpdate),
  );
  verb(schedule, "list", "list schedules with their next times")
    .option("--workflow <id>", "only of this workflow")
    .option("--limit <number>", "how many at most", wholeNumber)
    .option("--page-token <token>", "the next page")
    .action(act(scheduleList));
  verb(schedule, "get <schedule>", "show a schedule and its next times").action(act(scheduleGet));
  verb(schedule, "pause <schedule>", "start nothing until it is resumed")
    .option("--by <name>", "who, for people")
    .option("--reason <text>", "why, for people")
    .action(act(schedulePause));
  verb(schedule, "resume <schedule>", "go on with the next occurrence").action(act(scheduleResume));
  verb(schedule, "delete <schedule>", "remove it; runs that it started go on").action(
    act(scheduleDelete),
  );
  when(verb(schedule, "preview [schedule]", "the next times of an expression, or of a schedule"))
    .option("--count <number>", "how many; default 5, at most 50", wholeNumber)
    .action(act(schedulePreview));
  verb(schedule, "trigger <schedule>", "start a run now, beside the occurrences")
    .option("--request-id <id>", "makes a repeat harmless")
    .action(act(scheduleTrigger));
}
