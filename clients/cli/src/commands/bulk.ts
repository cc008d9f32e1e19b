// pawl bulk start, list, get, runs, continue, stop.

import {
  type BulkAction,
  bulkActionName,
  bulkOutcomeName,
  bulkOutcomeOf,
  bulkStateName,
  plainBulk,
  plainBulkPreview,
  plainBulkRun,
  type StartBulkOptions,
} from "@pawl/client";
import { type Bulk, type BulkCount, BulkState } from "@pawl/proto/pawl/v1/bulk_service_pb";
import { Argument, type Command } from "commander";
import {
  atLeast,
  collect,
  pageFlags,
  type PageFlags,
  requestIdFlag,
  type Verb,
  wholeNumber,
} from "../grammar.ts";
import { bulkLines, partsOf } from "../render/bulk.ts";
import { startFrames } from "../render/live-screen.ts";
import { isoText } from "../render/words.ts";
import {
  canvasOf,
  EXIT,
  type ExitCode,
  print,
  printJson,
  printLines,
  printList,
  readFileText,
  type Session,
  UsageError,
} from "../session.ts";

const ACTIONS: readonly BulkAction[] = [
  ...(["cancel", "pause", "resume", "retry", "repair", "redrive", "delete"] as const),
];

export function bulkVerbs(bulk: Command, verb: Verb): void {
  const starts = "Act on all runs that a filter finds now";
  const action = new Argument("<action>", "what to do with each run").choices(ACTIONS);
  requestIdFlag(
    verb(bulk, "start", starts, start)
      .addArgument(action)
      .option("--filter <filter>", "which runs, such as 'status = failed'")
      .option("--saved <name>", "a kept filter that must hold as well")
      .option("--dry-run", "only count the runs")
      .option("--canary <number>", "handle so many runs first, then wait", atLeast(1))
      .option("--canary-percent <share>", "the same as a share of the runs", atLeast(1))
      .option("--auto-continue", "continue by itself if all canary runs went well")
      .option("--max-per-second <number>", "how many runs a second; default 50", atLeast(1))
      .option("--abort-failed <number>", "abort when more runs fail", wholeNumber)
      .option("--abort-percent <share>", "abort when a larger share fails", atLeast(1))
      .option("--compensate", "cancel: undo completed nodes first")
      .option("--no-compensate", "cancel: undo nothing")
      .option("-f, --file <path>", "repair: the corrected definition")
      .option("--latest", "retry, repair: use the newest version")
      .option("--from <node>", "repair: run this node again; may be repeated", collect)
      .option("--keep-effects", "retry, repair: keep the ledger of effects")
      .option("--by <name>", "your name; shown to people")
      .option("--reason <text>", "why; shown to people")
      .option("--wait", "show the progress until the bulk ends or waits"),
  );
  pageFlags(verb(bulk, "list", "List bulks, newest first", list));
  verb(bulk, "get <bulk>", "Show a bulk with its progress", get).option(
    "--wait",
    "show the progress until the bulk ends or waits",
  );
  pageFlags(
    verb(bulk, "runs <bulk>", "List the runs of a bulk with what happened", runs).option(
      "--outcome <outcome...>",
      "done, failed or skipped",
    ),
  );
  verb(bulk, "continue <bulk>", "Act on the runs behind the canary", resume).option(
    "--wait",
    "show the progress until the bulk ends",
  );
  verb(bulk, "stop <bulk>", "Leave the other runs of a bulk as they are", stop).option(
    "--reason <text>",
    "why; shown to people",
  );
}

interface WaitFlag {
  readonly wait?: boolean;
}

interface StartFlags extends WaitFlag {
  readonly filter?: string;
  readonly saved?: string;
  readonly dryRun?: boolean;
  readonly canary?: number;
  readonly canaryPercent?: number;
  readonly autoContinue?: boolean;
  readonly maxPerSecond?: number;
  readonly abortFailed?: number;
  readonly abortPercent?: number;
  readonly compensate?: boolean;
  readonly file?: string;
  readonly latest?: boolean;
  readonly from?: readonly string[];
  readonly keepEffects?: boolean;
  readonly by?: string;
  readonly reason?: string;
  readonly requestId?: string;
}

async function start(
  session: Session,
  action: BulkAction,
  flags: StartFlags,
): Promise<ExitCode | void> {
  const { filter, saved, dryRun, wait, file, canary, from, ...rest } = flags;
  if (filter === undefined && saved === undefined)
    throw new UsageError("Say which runs: --filter FILTER, or --saved NAME.");
  const options: StartBulkOptions = {
    ...{ ...rest, filter, savedFilter: saved, canaryRuns: canary, signal: session.interrupted },
    ...(from === undefined ? {} : { fromNodes: [...from] }),
    ...(file === undefined ? {} : { definitionText: await readFileText(session, file) }),
  };
  const { bulks } = session.client;
  if (dryRun === true) {
    const preview = await bulks.preview(action, options);
    print(session, plainBulkPreview(preview), () => [
      `${action} applies to ${preview.applies} of ${preview.matched} runs`,
      ...preview.skipped.map(({ reason, count }) => `${count} skipped: ${reason}`),
      ...preview.firstRunIds.map((runId) => `  ${runId}`),
    ]);
    return EXIT.ok;
  }
  return shown(session, await bulks.start(action, options), wait);
}

async function list(session: Session, { limit: pageSize, pageToken }: PageFlags): Promise<void> {
  const { client, interrupted: signal, self } = session;
  const page = await client.bulks.list({ pageSize, pageToken, signal });
  printList(session, {
    items: page.bulks,
    json: { bulks: page.bulks.map(plainBulk), nextPageToken: page.nextPageToken },
    none: `No bulks. Begin one with \`${self} bulk start ACTION --filter FILTER\`.`,
    heads: ["BULK", "ACTION", "STATE", "RUNS", "DONE", "FAILED", "SKIPPED", "STARTED", "FILTER"],
    rowOf: (bulk) => [
      bulk.bulkId,
      bulkActionName(bulk.action),
      bulkStateName(bulk.state),
      ...[bulk.matched, bulk.done, bulk.failed, bulk.skipped].map(String),
      isoText(bulk.createTime),
      bulk.filter,
    ],
    next: [`${self} bulk list`, page.nextPageToken],
  });
}

async function get(session: Session, bulkId: string, { wait }: WaitFlag): Promise<ExitCode | void> {
  const { bulk } = await session.client.bulks.get(bulkId, { signal: session.interrupted });
  return shown(session, bulk, wait);
}

async function runs(
  session: Session,
  bulkId: string,
  flags: PageFlags & { readonly outcome?: readonly string[] },
): Promise<void> {
  const { limit: pageSize, pageToken, outcome = [] } = flags;
  const outcomes = outcome.map((name) => {
    const known = bulkOutcomeOf(name);
    if (known === undefined)
      throw new UsageError(`There is no outcome ${name}: done, failed or skipped.`);
    return known;
  });
  const { client, interrupted: signal, self } = session;
  const page = await client.bulks.runs(bulkId, { outcomes, pageSize, pageToken, signal });
  printList(session, {
    items: page.runs,
    json: { runs: page.runs.map(plainBulkRun), nextPageToken: page.nextPageToken },
    none: "No runs.",
    heads: ["RUN", "OUTCOME", "REASON", "NEW RUN", "MESSAGE"],
    rowOf: ({ runId, outcome: what, reason, newRunId, message }) => [
      runId,
      what === 0 ? "open" : bulkOutcomeName(what),
      reason,
      newRunId,
      message,
    ],
    next: [`${self} bulk runs ${bulkId}`, page.nextPageToken],
  });
}

async function resume(
  session: Session,
  bulkId: string,
  { wait }: WaitFlag,
): Promise<ExitCode | void> {
  const bulk = await session.client.bulks.continue(bulkId, { signal: session.interrupted });
  return shown(session, bulk, wait);
}

async function stop(
  session: Session,
  bulkId: string,
  { reason }: { readonly reason?: string },
): Promise<void> {
  const options = { reason, signal: session.interrupted };
  await shown(session, await session.client.bulks.stop(bulkId, options), false);
}

/** Shows a bulk, and follows it if the person wants to wait. Exit code 1 if runs failed or the bulk was aborted. */
async function shown(session: Session, bulk: Bulk, wait = false): Promise<ExitCode | void> {
  const last = wait ? await followed(session, bulk) : bulk;
  const { client, interrupted: signal, format } = session;
  const { reasons } = await client.bulks.get(last.bulkId, { signal });
  if (format === "json") printJson(session, { ...plainBulk(last), reasons: reasons.map(partsOf) });
  else printLines(session, [...linesOf(session, last, reasons), ...hints(session, last)]);
  return last.failed > 0 || last.state === BulkState.ABORTED ? EXIT.failed : EXIT.ok;
}

const linesOf = (session: Session, bulk: Bulk, reasons: readonly BulkCount[] = []) =>
  bulkLines(bulk, reasons, canvasOf(session));

const hints = ({ self }: Session, { state, bulkId }: Bulk): readonly string[] =>
  state === BulkState.WAITING
    ? [`Continue with \`${self} bulk continue ${bulkId}\`, or end it with \`${self} bulk stop\`.`]
    : [];

/** The bulk when it has ended or waits. A terminal shows the progress until then. */
async function followed(session: Session, first: Bulk): Promise<Bulk> {
  const { client, interrupted: signal, terminal, format } = session;
  let bulk = first;
  const isDrawn = terminal.isTty && format === "table";
  const end = isDrawn
    ? startFrames(
        (text) => terminal.write(text),
        () => linesOf(session, bulk),
      )
    : () => undefined;
  try {
    for await (const next of client.bulks.follow(first.bulkId, { signal })) bulk = next;
  } finally {
    end();
  }
  return bulk;
}
