// pawl schedule create, list, get, update, pause, resume, delete, preview, trigger.

import {
  jsonTextOf,
  type Missed,
  type Overlap,
  plainSchedule,
  type ScheduleInput,
} from "@pawl/client";
import type { Schedule } from "@pawl/proto/pawl/v1/schedule_pb";
import { EXIT, type ExitCode } from "../exit-code.ts";
import { scheduleLines, scheduleRow, SCHEDULE_HEADS } from "../render/schedule.ts";
import { tableLines } from "../render/table.ts";
import { zonedTime } from "../render/zoned-time.ts";
import { type InputFlags, readRunInput } from "../run-input.ts";
import { canvasOf, printJson, printLines, runUrl, type Session } from "../session.ts";
import { UsageError } from "../usage-error.ts";

export interface ScheduleFlags extends InputFlags {
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
export async function scheduleCreate(
  session: Session,
  scheduleId: string,
  flags: ScheduleFlags & { readonly requestId?: string },
): Promise<ExitCode> {
  const { workflow: workflowId } = flags;
  const expression = expressionOf(flags);
  if (workflowId === undefined || expression === undefined)
    throw new UsageError("Name what runs when: --workflow ID and --cron or --rrule EXPRESSION.");
  const input = { ...(await given(session, flags)), workflowId, expression };
  const { client, interrupted: signal } = session;
  const options = { signal, requestId: flags.requestId };
  return show(session, await client.schedules.create(scheduleId, input, options));
}

/** Changes what is named and keeps the rest; refused when somebody else edited it meanwhile. */
export async function scheduleUpdate(
  session: Session,
  scheduleId: string,
  flags: ScheduleFlags,
): Promise<ExitCode> {
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
  return show(session, await client.schedules.update(scheduleId, input, options));
}

const MISSED_NAMES: Readonly<Record<number, Missed>> = { 1: "skip", 2: "run_once", 3: "run_all" };
const OVERLAP_NAMES: Readonly<Record<number, Overlap>> = { 1: "allow", 2: "skip" };

/** What the flags say. */
async function given(session: Session, flags: ScheduleFlags): Promise<Partial<ScheduleInput>> {
  const { workflow, version, timeZone, priority, missed, overlap } = flags;
  const inputJson = await readRunInput(session, flags);
  const said = {
    workflowId: workflow,
    workflowVersion: version,
    expression: expressionOf(flags),
    timeZone,
    inputJson,
    priority,
    missed,
    overlap,
  };
  return Object.fromEntries(Object.entries(said).filter(([, value]) => value !== undefined));
}

function expressionOf({ cron, rrule }: ScheduleFlags): string | undefined {
  if (cron !== undefined && rrule !== undefined)
    throw new UsageError("Give --cron or --rrule, not both.");
  // A shell passes \n of a calendar entry as two characters.
  return cron ?? rrule?.replaceAll("\\n", "\n");
}

/** A page of schedules. */
export async function scheduleList(
  session: Session,
  flags: { readonly workflow?: string; readonly limit?: number; readonly pageToken?: string },
): Promise<ExitCode> {
  const { workflow: workflowId, limit: pageSize, pageToken } = flags;
  const { client, interrupted: signal } = session;
  const page = await client.schedules.list({ workflowId, pageSize, pageToken, signal });
  const { schedules, nextPageToken } = page;
  if (session.format === "json") {
    printJson(session, { schedules: schedules.map(plainSchedule), nextPageToken });
    return EXIT.ok;
  }
  if (schedules.length === 0) {
    const hint = `schedule create ID --workflow ID --cron '0 3 * * *'`;
    printLines(session, [`No schedules. Make one with \`${session.self} ${hint}\`.`]);
    return EXIT.ok;
  }
  const rows = schedules.map(scheduleRow);
  printLines(session, tableLines(SCHEDULE_HEADS, rows, canvasOf(session)));
  if (nextPageToken !== "")
    printLines(session, [`More: ${session.self} schedule list --page-token ${nextPageToken}`]);
  return EXIT.ok;
}

export async function scheduleGet(session: Session, scheduleId: string): Promise<ExitCode> {
  const { client, interrupted: signal } = session;
  return show(session, await client.schedules.get(scheduleId, { signal }));
}

export async function schedulePause(
  session: Session,
  scheduleId: string,
  flags: { readonly by?: string; readonly reason?: string },
): Promise<ExitCode> {
  const { by = "", reason = "" } = flags;
  const { client, interrupted: signal } = session;
  return show(session, await client.schedules.pause(scheduleId, { by, reason, signal }));
}

export async function scheduleResume(session: Session, scheduleId: string): Promise<ExitCode> {
  const { client, interrupted: signal } = session;
  return show(session, await client.schedules.resume(scheduleId, { signal }));
}

export async function scheduleDelete(session: Session, scheduleId: string): Promise<ExitCode> {
  await session.client.schedules.delete(scheduleId, { signal: session.interrupted });
  if (session.format === "json") printJson(session, { scheduleId, deleted: true });
  else printLines(session, [`${scheduleId} deleted; runs that it started continue`]);
  return EXIT.ok;
}

/** The next times of an expression, or of a saved schedule. */
export async function schedulePreview(
  session: Session,
  scheduleId: string | undefined,
  flags: ScheduleFlags & { readonly count?: number },
): Promise<ExitCode> {
  const expression = expressionOf(flags);
  if ((scheduleId === undefined) === (expression === undefined))
    throw new UsageError("Name a schedule, or give --cron or --rrule EXPRESSION.");
  const of = scheduleId === undefined ? { expression: expression ?? "" } : { scheduleId };
  const { timeZone, count } = flags;
  const { client, interrupted: signal } = session;
  const times = await client.schedules.preview(of, { timeZone, count, signal });
  if (session.format === "json")
    printJson(session, { times: times.map((time) => time.toISOString()) });
  else {
    const lines = times.map((time) => zonedTime(time, timeZone ?? ""));
    printLines(session, lines.length === 0 ? ["There are no further times."] : lines);
  }
  return EXIT.ok;
}

/** Starts a run now. */
export async function scheduleTrigger(
  session: Session,
  scheduleId: string,
  flags: { readonly requestId?: string },
): Promise<ExitCode> {
  const { client, interrupted: signal } = session;
  const { requestId } = flags;
  const { run, isDuplicate } = await client.schedules.trigger(scheduleId, { requestId, signal });
  const { runId } = run;
  if (session.format === "json") printJson(session, { runId, scheduleId, isDuplicate });
  else printLines(session, [runId, runUrl(session, runId)]);
  return EXIT.ok;
}

function show(session: Session, schedule: Schedule): ExitCode {
  if (session.format === "json") printJson(session, plainSchedule(schedule));
  else printLines(session, scheduleLines(schedule));
  return EXIT.ok;
}
