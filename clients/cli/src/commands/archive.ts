// pawl archive list, get, restore; pawl run export.

import {
  plainArchivedRun,
  type PawlClient,
  PawlError,
  type PawlReason,
  runStatusName,
} from "@pawl/client";
import type { ArchivedRun, RestoreRunResponse } from "@pawl/proto/pawl/v1/archive_service_pb";
import type { Command } from "commander";
import { type PageFlags, pageFlags, type Verb } from "../grammar.ts";
import { tableLines } from "../render/table.ts";
import { isoText } from "../render/words.ts";
import {
  canvasOf,
  EXIT,
  type ExitCode,
  print,
  printJson,
  printLines,
  printList,
  printNotes,
  type Session,
  UsageError,
} from "../session.ts";

export function archiveVerbs(archive: Command, verb: Verb): void {
  pageFlags(selectionFlags(verb(archive, "list", "List archived runs, oldest first", list)));
  verb(
    archive,
    "get <run-id>",
    "Check the file of an archived run, and show what it has",
    get,
  ).option("--ndjson", "print the file itself: lines of JSON");
  const restores = "Put an archived run back, or all that a filter finds";
  selectionFlags(verb(archive, "restore [run-id]", restores, restore));
}

export function exportVerb(run: Command, verb: Verb): void {
  const text = "Print a run with its whole log as lines of JSON, in the form of the archive";
  verb(run, "export <run>", text, exportRun);
}

interface SelectionFlags {
  readonly month?: string;
  readonly filter?: string;
}

const selectionFlags = (command: Command): Command =>
  command
    .option("--month <month>", "only runs that began in this month, such as 2026-06")
    .option("--filter <filter>", "only runs that this filter finds, such as 'status = failed'");

async function list(session: Session, flags: SelectionFlags & PageFlags): Promise<void> {
  const { limit: pageSize, pageToken, month, filter } = flags;
  const { client, interrupted: signal, self } = session;
  const page = await client.archive.list({ month, filter, pageSize, pageToken, signal });
  // The token is bound to both.
  const typed = [
    ...(month === undefined ? [] : [`--month ${month}`]),
    ...(filter === undefined ? [] : [`--filter '${filter}'`]),
  ];
  printList(session, {
    items: page.archivedRuns,
    json: {
      archivedRuns: page.archivedRuns.map(plainArchivedRun),
      nextPageToken: page.nextPageToken,
    },
    none: page.nextPageToken === "" ? "No archived runs." : "None among the files of this page.",
    heads: ["RUN", "WORKFLOW", "STATUS", "BEGAN", "ENDED"],
    rowOf: ({ run }) => [
      run?.runId ?? "",
      run?.workflowId ?? "",
      runStatusName(run?.status ?? 0),
      isoText(run?.createTime),
      isoText(run?.endTime),
    ],
    next: [[`${self} archive list`, ...typed].join(" "), page.nextPageToken],
  });
}

async function get(
  session: Session,
  runId: string,
  { ndjson = false }: { readonly ndjson?: boolean },
): Promise<void> {
  const { client, interrupted: signal } = session;
  if (ndjson) return await printFile(session, client.archive.read(runId, { signal }));
  const archived = await client.archive.get(runId, { signal });
  print(session, plainArchivedRun(archived), () => lines(session, archived));
}

const lines = (session: Session, { run, counts, sha256, lines: count }: ArchivedRun) =>
  tableLines(
    ["FACT", "VALUE"],
    [
      ["run", run?.runId ?? ""],
      ["workflow", run?.workflowId ?? ""],
      ["status", runStatusName(run?.status ?? 0)],
      ["began", isoText(run?.createTime)],
      ["ended", isoText(run?.endTime)],
      ["lines", String(count)],
      ...counts.map((each) => [`records ${each.record}`, String(each.count)]),
      ["sha256", sha256],
    ],
    canvasOf(session),
  );

async function restore(
  session: Session,
  runId: string | undefined,
  selection: SelectionFlags,
): Promise<ExitCode> {
  const { month, filter } = selection;
  const isSelection = month !== undefined || filter !== undefined;
  if ((runId === undefined) !== isSelection)
    throw new UsageError("Name one run, or choose runs with --month or --filter.");
  if (runId !== undefined) return (await restoreOne(session, runId)) ? EXIT.ok : EXIT.failed;
  let isWhole = true;
  for await (const id of selected(session, selection)) {
    try {
      isWhole = (await restoreOne(session, id)) && isWhole;
    } catch (error) {
      if (!(error instanceof PawlError) || !OF_ONE_RUN.has(error.reason)) throw error;
      printNotes(session, [`${id}: ${error.reason}: ${error.message}`]);
      isWhole = false;
    }
  }
  return isWhole ? EXIT.ok : EXIT.failed;
}

/** Refusals that say nothing about the other runs of a selection. */
const OF_ONE_RUN: ReadonlySet<PawlReason> = new Set([
  "ARCHIVE_CONFLICT",
  "ARCHIVE_INVALID",
  "ARCHIVED_RUN_NOT_FOUND",
]);

/** Restores a run and prints the answer. False if the archive does not have all of its child runs. */
async function restoreOne(session: Session, runId: string): Promise<boolean> {
  const { client, interrupted: signal } = session;
  const answer = await client.archive.restore(runId, { signal });
  if (session.format === "json") printJson(session, plainRestore(runId, answer));
  else printLines(session, restoreLines(runId, answer));
  return answer.missingRunIds.length === 0;
}

const plainRestore = (runId: string, answer: RestoreRunResponse) => ({
  runId,
  restoredRunIds: answer.restoredRunIds,
  missingRunIds: answer.missingRunIds,
});

function restoreLines(runId: string, answer: RestoreRunResponse): readonly string[] {
  const { restoredRunIds: restored, missingRunIds: missing } = answer;
  return [
    restored.length === 0
      ? `${runId}: the database has it already`
      : `${runId}: restored${restored.length === 1 ? "" : `, ${restored.length} runs with its child runs`}`,
    ...missing.map((id) => `${id}: a child run that the archive does not have`),
  ];
}

/** The ids of all archived runs of a selection, page by page. */
async function* selected(
  {
    client,
    interrupted: signal,
  }: { readonly client: PawlClient; readonly interrupted: AbortSignal },
  { month, filter }: SelectionFlags,
): AsyncGenerator<string> {
  let pageToken = "";
  do {
    const page = await client.archive.list({ month, filter, pageToken, signal });
    for (const { run } of page.archivedRuns) if (run !== undefined) yield run.runId;
    pageToken = page.nextPageToken;
  } while (pageToken !== "");
}

async function exportRun(session: Session, runId: string): Promise<void> {
  const { client, interrupted: signal } = session;
  await printFile(session, client.archive.exportRun(runId, { signal }));
}

/** Prints a file to the letter, so that its digest holds. A terminal would act on characters in it. */
async function printFile(session: Session, pieces: AsyncIterable<Uint8Array>): Promise<void> {
  if (session.terminal.isTty)
    throw new UsageError("Write the lines to a file: add > run.ndjson to the command.");
  const decoder = new TextDecoder();
  for await (const piece of pieces) {
    session.terminal.write(decoder.decode(piece, { stream: true }));
    // A slow reader must not make this process hold the whole file.
    await session.terminal.drain?.();
  }
}
