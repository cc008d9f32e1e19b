// `pawl thread watch`: the runs of a thread, a line for each event or item. With -o json a line is one JSON object with its cursor. Ctrl-C
// detaches: the runs continue, and the command prints how to continue.

import {
  plainEvent,
  type PawlError,
  type ThreadEvent,
  type ThreadItem,
  type WatchThreadOptions,
} from "@pawl/client";
import type { Command } from "commander";
import type { Verb } from "../grammar.ts";
import { eventLine } from "../render/event-line.ts";
import {
  EXIT,
  type ExitCode,
  printJson,
  printLines,
  printNotes,
  type Session,
} from "../session.ts";
import { filterFlags, itemJson, itemLine, modesOf } from "./run-stream.ts";

export function threadWatchVerb(thread: Command, verb: Verb): void {
  filterFlags(
    verb(thread, "watch <thread>", "Follow the runs of a thread, live", watch)
      .option("--cursor <cursor>", "only events after this cursor of the thread")
      .option("--skip-finished", "leave out the runs that have ended")
      .option("--until-idle", "end when no run holds the thread"),
  );
}

interface ThreadWatchFlags {
  readonly cursor?: string;
  readonly skipFinished?: boolean;
  readonly untilIdle?: boolean;
  readonly mode?: readonly string[];
  readonly node?: readonly string[];
  readonly nodeType?: readonly string[];
}

async function watch(
  session: Session,
  threadId: string,
  { mode = [], node: nodeIds, nodeType: nodeTypes, ...flags }: ThreadWatchFlags,
): Promise<ExitCode> {
  const { client, interrupted: signal, self } = session;
  const shown = { runId: "", cursor: flags.cursor ?? "" };
  const options: WatchThreadOptions = {
    ...{ ...flags, nodeIds, nodeTypes, signal },
    onReconnect: (_: string, { message }: PawlError) =>
      printNotes(session, [`Connection lost (${message}); resuming after the last event …`]),
  };
  if (mode.length > 0) {
    const stream = client.streamThread(threadId, { ...options, modes: modesOf(mode) });
    for await (const item of stream) showItem(session, shown, item);
  } else {
    for await (const entry of client.watchThread(threadId, options))
      showEvent(session, shown, entry);
  }
  if (signal.aborted && shown.cursor !== "") {
    const command = `${self} thread watch ${threadId} --cursor ${shown.cursor}`;
    printNotes(session, ["", `Detached. Continue with: ${command}`]);
  }
  return EXIT.ok;
}

/** What the reader has seen. */
interface Shown {
  runId: string;
  cursor: string;
}

function showEvent(session: Session, shown: Shown, { cursor, event }: ThreadEvent): void {
  if (session.format === "json") printJson(session, { cursor, event: plainEvent(event) });
  else printLines(session, [...headOf(shown, event.runId), eventLine(event)]);
  shown.cursor = cursor;
}

function showItem(session: Session, shown: Shown, item: ThreadItem): void {
  const { cursor } = item;
  if (session.format === "json") printJson(session, { cursor, ...itemJson(item) });
  else printLines(session, [...headOf(shown, item.runId), itemLine(item)]);
  shown.cursor = cursor;
}

/** A line before the first event of each run. */
function headOf(shown: Shown, runId: string): readonly string[] {
  if (shown.runId === runId) return [];
  shown.runId = runId;
  return [`run ${runId}`];
}
