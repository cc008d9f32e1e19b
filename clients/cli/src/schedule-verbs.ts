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
import { REQUEST_ID } from "./help.ts";
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
  const schedule = program.command("schedule").description("Run workflows at set times");
  const when = (command: Command): Command =>
    command
      .option("--cron <expression>", "five fields, six with seconds first, or a macro like @daily")
      .option("--rrule <rule>", "an RFC 5545 rule, such as FREQ=WEEKLY;BYDAY=MO;BYHOUR=9")
      .option("--time-zone <zone>", "an IANA time zone; default UTC");
  const spec = (command: Command): Command =>
    when(command)
      .option("--workflow <id>", "workflow to run")
      .option("--version <number>", "which version; default the newest each time", wholeNumber)
      .option("--input <json>", "the input of every run: JSON, or @FILE")
      .option("--set <key=value>", "set one key of the input; may be repeated", collect)
      .option("--priority <number>", "-1000 to 1000; lower numbers run first", wholeNumber)
      .addOption(
        new Option(
          "--missed <policy>",
          "times missed during a downtime: skip them, run once, or run all",
        ).choices(["skip", "run_once", "run_all"]),
      )
      .addOption(
        new Option(
          "--overlap <policy>",
          "if the previous run is still live: start another, or skip",
        ).choices(["allow", "skip"]),
      );
  spec(verb(schedule, "create <schedule>", "Create a schedule"))
    .option("--request-id <id>", REQUEST_ID)
    .action(act(scheduleCreate));
  spec(verb(schedule, "update <schedule>", "Change a schedule; what you do not name stays")).action(
    act(scheduleUpdate),
  );
  verb(schedule, "list", "List schedules with their next times")
    .option("--workflow <id>", "only of this workflow")
    .option("--limit <number>", "how many at most", wholeNumber)
    .option("--page-token <token>", "the next page")
    .action(act(scheduleList));
  verb(schedule, "get <schedule>", "Show a schedule and its next times").action(act(scheduleGet));
  verb(schedule, "pause <schedule>", "Pause a schedule")
    .option("--by <name>", "your name; shown to people")
    .option("--reason <text>", "why; shown to people")
    .action(act(schedulePause));
  verb(schedule, "resume <schedule>", "Resume a schedule with its next time").action(
    act(scheduleResume),
  );
  verb(schedule, "delete <schedule>", "Delete a schedule; runs it started continue").action(
    act(scheduleDelete),
  );
  when(verb(schedule, "preview [schedule]", "Show the next times of an expression or a schedule"))
    .option("--count <number>", "how many; default 5, at most 50", wholeNumber)
    .action(act(schedulePreview));
  verb(schedule, "trigger <schedule>", "Start a run now, outside of the schedule")
    .option("--request-id <id>", REQUEST_ID)
    .action(act(scheduleTrigger));
}
