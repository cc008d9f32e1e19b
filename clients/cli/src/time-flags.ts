// The flags that say when a run starts, how long it may take and whether it stays.

import type { StartRunOptions } from "@pawl/client";
import type { Command } from "commander";
import { parseDuration } from "./render/words.ts";
import { UsageError } from "./session.ts";

export interface TimeFlags {
  readonly deadline?: string;
  readonly after?: string;
  readonly at?: string;
  readonly temporary?: boolean;
}

export const timeFlags = (command: Command): Command =>
  command
    .option("--deadline <duration>", "how long it may take from its start: 30s, 10m, 2h")
    .option("--after <duration>", "start it so long after its acceptance: 30s, 10m, 2h")
    .option("--at <time>", "start it at this time, such as 2026-10-01T09:00:00Z")
    .option("--temporary", "delete it with everything that belongs to it, soon after its end");

/** The flags as options of the client. @throws UsageError */
export const timeOf = ({
  deadline,
  after,
  at,
  temporary,
}: TimeFlags): Pick<StartRunOptions, "deadlineMs" | "afterMs" | "startAt" | "temporary"> => ({
  deadlineMs: durationMs("--deadline", deadline),
  afterMs: durationMs("--after", after),
  startAt: dateOf("--at", at),
  temporary,
});

/** @throws UsageError */
export function durationMs(flag: string, text: string | undefined): number | undefined {
  if (text === undefined) return undefined;
  const ms = parseDuration(text);
  if (ms === undefined) throw new UsageError(`${flag} ${text}: write it as 30s, 10m or 2h`);
  return ms;
}

/** A date without a time of day is refused: it does not say which midnight it means. */
const TIME = /^\d{4}-\d\d-\d\d[T ]\d\d:\d\d(?::\d\d(?:\.\d+)?)?(?:Z|[+-]\d\d:?\d\d)?$/;

function dateOf(flag: string, text: string | undefined): Date | undefined {
  if (text === undefined) return undefined;
  const date = new Date(text.replace(" ", "T"));
  if (TIME.test(text) && !Number.isNaN(date.getTime())) return date;
  throw new UsageError(`${flag} ${text}: write it as 2026-10-01T09:00:00Z`);
}
