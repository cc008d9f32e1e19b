// pawl schedule create, list, get, update, pause, resume, delete, preview, trigger.

import {
  jsonTextOf,
  type Missed,
  type Overlap,
  plainSchedule,
  type ScheduleInput,
} from "@pawl/client";
import type { Schedule } from "@pawl/proto/pawl/v1/schedule_pb";
import { type Command, Option } from "commander";
import {
  collect,
  pageFlags,
  type PageFlags,
  pauseFlags,
  type PauseFlags,
  requestIdFlag,
  type Verb,
  wholeNumber,
} from "../grammar.ts";
import { SCHEDULE_HEADS, scheduleLines, scheduleRow, zonedTime } from "../render/schedule.ts";
import { type InputFlags, readRunInput } from "../run-input.ts";
import { print, printList, runUrl, type Session, UsageError } from "../session.ts";

export function scheduleVerbs(schedule: Command, verb: Verb): void {
  const when = (command: Command): Command =>
    command
      .option("--cron <expression>", "five fields, six with seconds first, or a macro like @daily")
      .option("--rrule <rule>", "an RFC 5545 rule, such as FREQ=WEEKLY;BYDAY=MO;BYHOUR=9")
      .option("--time-zone <zone>", "an IANA time zone; default UTC");
  const missed = "times missed during a downtime: skip them, run once, or run all";
  const overlap = "if the previous run is still live: start another, or skip";
  const spec = (command: Command): Command =>
    when(command)
      .option("--workflow <id>", "workflow to run")
      .option("--version <number>", "which version; default the newest each time", wholeNumber)
      .option("--input <json>", "the input of every run: JSON, or @FILE")
      .option("--set <key=value>", "set one key of the input; may be repeated", collect)
      .option("--priority <number>", "-1000 to 1000; lower numbers run first", wholeNumber)
      .addOption(new Option("--missed <policy>", missed).choices(["skip", "run_once", "run_all"]))
      .addOption(new Option("--overlap <policy>", overlap).choices(["allow", "skip"]));
  requestIdFlag(spec(verb(schedule, "create <schedule>", "Create a schedule", create)));
  const updates = "Change a schedule; fields without a flag stay";
  spec(verb(schedule, "update <schedule>", updates, update));
  pageFlags(
    verb(schedule, "list", "List schedules with their next times", list).option(
      "--workflow <id>",
      "only of this workflow",
    ),
  );
  verb(schedule, "get <schedule>", "Show a schedule and its next times", get);
  pauseFlags(verb(schedule, "pause <schedule>", "Pause a schedule", pause));
  verb(schedule, "resume <schedule>", "Resume a schedule with its next time", resume);
  verb(schedule, "delete <schedule>", "Delete a schedule; runs it started continue", remove);
  const previews = "Show the next times of an expression or a schedule";
  when(verb(schedule, "preview [schedule]", previews, preview)).option(
    "--count <number>",
    "how many; default 5, at most 50",
    wholeNumber,
  );
  const triggers = "Start a run now, outside of the schedule";
  requestIdFlag(verb(schedule, "trigger <schedule>", triggers, trigger));
}

interface ScheduleFlags extends InputFlags {
  readonly workflow?: string;
  readonly version?: number;
  readonly cron?: string;
  readonly rrule?: string;
  readonly timeZone?: string;
  readonly priority?: number;
  readonly missed?: Missed;
  readonly overlap?: Overlap;
}

/** Saves a schedule. */
async function create(
  session: Session,
  scheduleId: string,
  flags: ScheduleFlags & { readonly requestId?: string },
): Promise<void> {
  const { workflow: workflowId } = flags;
  const expression = expressionOf(flags);
  if (workflowId === undefined || expression === undefined)
    throw new UsageError(
      "Name the workflow and its times: --workflow ID and --cron or --rrule EXPRESSION.",
    );
  const input = { ...(await given(session, flags)), workflowId, expression };
  const { client, interrupted: signal } = session;
  const options = { signal, requestId: flags.requestId };
  show(session, await client.schedules.create(scheduleId, input, options));
}

/** Changes the named fields. Race: another client edits the schedule meanwhile. The server refuses this edit. */
async function update(session: Session, scheduleId: string, flags: ScheduleFlags): Promise<void> {
  const { client, interrupted: signal } = session;
  const known = await client.schedules.get(scheduleId, { signal });
  const { spec } = known;
  const input = {
    workflowId: spec?.workflowId ?? "",
    workflowVersion: spec?.workflowVersion,
    expression: spec?.expression ?? "",
    timeZone: spec?.timeZone,
    inputJson: jsonTextOf(spec?.inputJson),
    priority: spec?.priority,
    missed: MISSED_NAMES[spec?.missed ?? 0],
    overlap: OVERLAP_NAMES[spec?.overlap ?? 0],
    ...(await given(session, flags)),
  };
  const options = { signal, expectedVersion: known.version };
  show(session, await client.schedules.update(scheduleId, input, options));
}

const MISSED_NAMES: Readonly<Record<number, Missed>> = { 1: "skip", 2: "run_once", 3: "run_all" };
const OVERLAP_NAMES: Readonly<Record<number, Overlap>> = { 1: "allow", 2: "skip" };

/** The fields that the flags name. */
async function given(session: Session, flags: ScheduleFlags): Promise<Partial<ScheduleInput>> {
  const { workflow, version, timeZone, priority, missed, overlap } = flags;
  const inputJson = await readRunInput(session, flags);
  const fields = {
    workflowId: workflow,
    workflowVersion: version,
    expression: expressionOf(flags),
    timeZone,
    inputJson,
    priority,
    missed,
    overlap,
  };
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined));
}

function expressionOf({ cron, rrule }: ScheduleFlags): string | undefined {
  if (cron !== undefined && rrule !== undefined)
    throw new UsageError("Give --cron or --rrule, not both.");
  // A shell passes \n of a calendar entry as two characters.
  return cron ?? rrule?.replaceAll("\\n", "\n");
}

async function list(
  session: Session,
  flags: PageFlags & { readonly workflow?: string },
): Promise<void> {
  const { workflow: workflowId, limit: pageSize, pageToken } = flags;
  const { client, interrupted: signal } = session;
  const page = await client.schedules.list({ workflowId, pageSize, pageToken, signal });
  const { schedules: items, nextPageToken } = page;
  const hint = `schedule create ID --workflow ID --cron '0 3 * * *'`;
  printList(session, {
    items,
    json: { schedules: items.map(plainSchedule), nextPageToken },
    none: `No schedules. Make one with \`${session.self} ${hint}\`.`,
    heads: SCHEDULE_HEADS,
    rowOf: scheduleRow,
    next: [`${session.self} schedule list`, nextPageToken],
  });
}

async function get(session: Session, scheduleId: string): Promise<void> {
  const { client, interrupted: signal } = session;
  show(session, await client.schedules.get(scheduleId, { signal }));
}

async function pause(session: Session, scheduleId: string, flags: PauseFlags): Promise<void> {
  const { by, reason } = flags;
  const { client, interrupted: signal } = session;
  show(session, await client.schedules.pause(scheduleId, { by, reason, signal }));
}

async function resume(session: Session, scheduleId: string): Promise<void> {
  const { client, interrupted: signal } = session;
  show(session, await client.schedules.resume(scheduleId, { signal }));
}

async function remove(session: Session, scheduleId: string): Promise<void> {
  await session.client.schedules.delete(scheduleId, { signal: session.interrupted });
  print(session, { scheduleId, deleted: true }, () => [
    `${scheduleId} deleted; runs that it started continue`,
  ]);
}

/** The next times of an expression, or of a saved schedule. */
async function preview(
  session: Session,
  scheduleId: string | undefined,
  flags: ScheduleFlags & { readonly count?: number },
): Promise<void> {
  const expression = expressionOf(flags);
  if ((scheduleId === undefined) === (expression === undefined))
    throw new UsageError("Name a schedule, or give --cron or --rrule EXPRESSION.");
  const of = scheduleId === undefined ? { expression: expression ?? "" } : { scheduleId };
  const { timeZone, count } = flags;
  const { client, interrupted: signal } = session;
  const times = await client.schedules.preview(of, { timeZone, count, signal });
  print(session, { times: times.map((time) => time.toISOString()) }, () =>
    times.length === 0
      ? ["There are no further times."]
      : times.map((time) => zonedTime(time, timeZone ?? "")),
  );
}

/** Starts a run now. */
async function trigger(
  session: Session,
  scheduleId: string,
  flags: { readonly requestId?: string },
): Promise<void> {
  const { client, interrupted: signal } = session;
  const { requestId } = flags;
  const { run, isDuplicate } = await client.schedules.trigger(scheduleId, { requestId, signal });
  const { runId } = run;
  print(session, { runId, scheduleId, isDuplicate }, () => [runId, runUrl(session, runId)]);
}

const show = (session: Session, schedule: Schedule): void =>
  print(session, plainSchedule(schedule), () => scheduleLines(schedule));
