// `pawl run watch --mode`: a run in modes, a line for each item. With -o json a line is one JSON object.

import {
  plainEvent,
  runStatusName,
  STREAM_MODE_NAMES,
  type StreamItem,
  type StreamMode,
  type StreamOptions,
} from "@pawl/client";
import type { Command } from "commander";
import { wholeNumber } from "../grammar.ts";
import { eventLine } from "../render/event-line.ts";
import { cutText, safeText } from "../render/spans.ts";
import {
  EXIT,
  type ExitCode,
  printJson,
  printLines,
  type Session,
  UsageError,
} from "../session.ts";

const DATA_WIDTH = 200;

/** The flags of `pawl run watch`. */
export const watchFlags = (command: Command): Command =>
  filterFlags(command.option("--after <event>", "only events after this event id", wholeNumber));

/** The flags of a stream that say what it shows. */
export const filterFlags = (command: Command): Command =>
  command
    .option("--mode <mode...>", `in other forms: ${STREAM_MODE_NAMES.join(", ")}`)
    .option("--node <id...>", "only events of these nodes")
    .option("--node-type <type...>", "only events of nodes of these types");

/** The modes that a reader typed. @throws UsageError */
export function modesOf(typed: readonly string[]): readonly StreamMode[] {
  const names = typed.flatMap((list) => list.split(","));
  for (const name of names)
    if (!STREAM_MODE_NAMES.includes(name))
      throw new UsageError(`--mode ${name}: it is one of ${STREAM_MODE_NAMES.join(", ")}`);
  return names as readonly StreamMode[]; // each is in the list of names
}

/** Prints a run in modes until its end. Exit code 0 if it completed or the reader detached, otherwise 1. @throws PawlError */
export async function streamModes(
  session: Session,
  runId: string,
  options: StreamOptions,
): Promise<ExitCode> {
  const { client, interrupted: signal } = session;
  for await (const item of client.stream(runId, { ...options, signal })) show(session, item);
  if (signal.aborted) return EXIT.ok;
  const { run } = await client.runs.get(runId);
  return runStatusName(run.status) === "completed" ? EXIT.ok : EXIT.failed;
}

function show(session: Session, item: StreamItem): void {
  if (session.format === "json") printJson(session, itemJson(item));
  else printLines(session, [itemLine(item)]);
}

/** An item for scripts. */
export const itemJson = ({ mode, eventId, runId, event, data }: StreamItem) => ({
  ...{ eventId: Number(eventId), runId, mode },
  data: event === undefined ? data : plainEvent(event),
});

/** An item for people. */
export const itemLine = ({ mode, eventId, event, data }: StreamItem): string =>
  event === undefined
    ? `#${eventId}  ${mode}  ${cutText(safeText(JSON.stringify(data)), DATA_WIDTH)}`
    : eventLine(event);
