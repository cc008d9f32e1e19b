// pawl queue depth; pawl dead-letter list, preview, redrive, discard.

import { timestampDate } from "@bufbuild/protobuf/wkt";
import {
  deadLetterStateName,
  deadLetterStateOf,
  plainDeadLetter,
  type RedriveStep,
} from "@pawl/client";
import { DeadLetterState, type LeftDeadLetters } from "@pawl/proto/pawl/v1/queue_service_pb";
import { EXIT, type ExitCode } from "../exit-code.ts";
import { tableLines } from "../render/table.ts";
import { canvasOf, printJson, printLines, type Session } from "../session.ts";
import { UsageError } from "../usage-error.ts";

export interface DeadLetterFlags {
  readonly workflow?: string;
  readonly nodeType?: string;
  readonly before?: string;
  readonly limit?: number;
  readonly requestId?: string;
}

const DEPTH_HEADS = ["TYPE", "STATE", "WAITING", "ACTIVE", "PAUSED", "DEAD LETTERS"];
const HEADS = ["DEAD LETTER", "STATE", "RUN", "NODE", "TYPE", "DIED", "ERROR"];

/** How much is where. */
export async function queueDepth(session: Session): Promise<ExitCode> {
  const { total, queues } = await session.client.queues.depth({ signal: session.interrupted });
  const none = { waiting: 0, active: 0, paused: 0, deadLetter: 0, held: false };
  const all = { ...none, ...total, nodeType: "all" };
  if (session.format === "json") {
    const plain = ({ nodeType, waiting, active, deadLetter }: typeof all) => ({
      nodeType,
      waiting,
      active,
      deadLetter,
    });
    const { nodeType: _, ...counts } = plain(all);
    const depths = {
      total: { ...counts, paused: all.paused },
      queues: queues.map((depth) => ({ ...plain(depth), held: depth.held })),
    };
    printJson(session, depths);
    return EXIT.ok;
  }
  const rows = [...queues, all].map((depth) => [
    { text: depth.nodeType },
    { text: depth.held ? "paused" : "" },
    { text: String(depth.waiting) },
    { text: String(depth.active) },
    { text: depth === all ? String(depth.paused) : "" },
    { text: String(depth.deadLetter) },
  ]);
  printTable(session, DEPTH_HEADS, rows);
  return EXIT.ok;
}

/** A page of dead letters; open ones unless told. */
export async function deadLetterList(
  session: Session,
  flags: DeadLetterFlags & { readonly state?: readonly string[]; readonly pageToken?: string },
): Promise<ExitCode> {
  const { limit: pageSize, pageToken } = flags;
  const states = (flags.state ?? ["open"]).map((name) => {
    const state = deadLetterStateOf(name);
    if (state === undefined)
      throw new UsageError(`There is no state ${name}: open, redriven or discarded.`);
    return state;
  });
  const { client, interrupted: signal } = session;
  const asked = { ...selectionOf([], flags), states, pageSize, pageToken, signal };
  const { deadLetters, nextPageToken } = await client.deadLetters.list(asked);
  if (session.format === "json") {
    printJson(session, { deadLetters: deadLetters.map(plainDeadLetter), nextPageToken });
    return EXIT.ok;
  }
  if (deadLetters.length === 0) {
    printLines(session, ["No dead letters."]);
    return EXIT.ok;
  }
  const rows = deadLetters.map((letter) => [
    { text: letter.deadLetterId },
    { text: deadLetterStateName(letter.state) },
    { text: letter.runId },
    { text: letter.iteration === 0 ? letter.nodeId : `${letter.nodeId}[${letter.iteration}]` },
    { text: letter.nodeType },
    { text: letter.dieTime === undefined ? "" : timestampDate(letter.dieTime).toISOString() },
    { text: letter.state === DeadLetterState.REDRIVEN ? letter.redriveRunId : letter.errorMessage },
  ]);
  printTable(session, HEADS, rows);
  if (nextPageToken !== "")
    printLines(session, [`More: ${session.self} dead-letter list --page-token ${nextPageToken}`]);
  return EXIT.ok;
}

/** What a redrive would do. */
export async function deadLetterPreview(
  session: Session,
  ids: readonly string[],
  flags: DeadLetterFlags,
): Promise<ExitCode> {
  const { client, interrupted: signal } = session;
  const asked = { ...selectionOf(ids, flags), limit: flags.limit, signal };
  const { redriven, runs, left, firstIds } = await client.deadLetters.preview(asked);
  if (session.format === "json") {
    printJson(session, { redriven, runs, left: left.map(plainLeft), firstIds });
    return EXIT.ok;
  }
  const first = firstIds.map((id) => `  ${id}`);
  printLines(session, [
    `${redriven} would be redriven, as ${runs} new runs`,
    ...first,
    ...leftLines(left),
  ]);
  return EXIT.ok;
}

/** Starts the runs of dead letters again. */
export async function deadLetterRedrive(
  session: Session,
  ids: readonly string[],
  flags: DeadLetterFlags & { readonly maxPerSecond?: number; readonly all?: true },
): Promise<ExitCode> {
  if (flags.all !== true) mustName(ids, flags, "redrive", "give --all for all that are open");
  const { client, interrupted: signal, format } = session;
  const { limit, maxPerSecond, requestId = crypto.randomUUID() } = flags;
  const asked = { ...selectionOf(ids, flags), limit, maxPerSecond, requestId, signal };
  const runs: { readonly deadLetterId: string; readonly runId: string }[] = [];
  let last: Pick<RedriveStep, "left" | "remaining"> = { left: [], remaining: 0 };
  for await (const step of client.deadLetters.redriveAll(asked)) {
    last = step;
    runs.push(...step.redriven.map(({ deadLetterId, runId }) => ({ deadLetterId, runId })));
    if (format === "json") continue;
    const lines = step.redriven.map((each) => `${each.deadLetterId} goes on as run ${each.runId}`);
    printLines(session, lines);
    if (step.remaining > 0 && step.redriven.length > 0 && step.redrivenCount !== limit)
      session.terminal.writeError(
        `${step.redrivenCount} redriven, ${manyText(step.remaining)} to go; should it stop, --request-id ${requestId} goes on\n`,
      );
  }
  const { left, remaining } = last;
  if (format === "json")
    printJson(session, { requestId, redriven: runs, left: left.map(plainLeft), remaining });
  else {
    const more = remaining === 0 ? [] : [`${manyText(remaining)} more match`];
    printLines(session, [`${runs.length} redriven`, ...more, ...leftLines(left)]);
  }
  return EXIT.ok;
}

/** The server counts up to 1,000. */
const manyText = (count: number): string => (count < 1_000 ? String(count) : "1000 or more");

/** Closes dead letters without starting anything. */
export async function deadLetterDiscard(
  session: Session,
  ids: readonly string[],
  flags: DeadLetterFlags,
): Promise<ExitCode> {
  mustName(ids, flags, "discard", "narrow them by a flag");
  const { client, interrupted: signal } = session;
  const { limit, requestId } = flags;
  const asked = { ...selectionOf(ids, flags), limit, requestId, signal };
  const deadLetterIds = await client.deadLetters.discard(asked);
  if (session.format === "json") printJson(session, { deadLetterIds: [...deadLetterIds] });
  else printLines(session, [`${deadLetterIds.length} discarded`]);
  return EXIT.ok;
}

function selectionOf(ids: readonly string[], flags: DeadLetterFlags) {
  const { workflow: workflowId, nodeType, before: text } = flags;
  const before = text === undefined ? undefined : new Date(text);
  if (before !== undefined && Number.isNaN(before.getTime()))
    throw new UsageError("--before takes a time such as 2026-11-16T09:00:00Z.");
  return { ids, workflowId, nodeType, before };
}

function mustName(
  ids: readonly string[],
  flags: DeadLetterFlags,
  verb: string,
  otherwise: string,
): void {
  const { workflow, nodeType, before } = flags;
  if (ids.length === 0 && (workflow ?? nodeType ?? before) === undefined)
    throw new UsageError(`Name the dead letters to ${verb}, or ${otherwise}.`);
}

const ADVICE: Readonly<Record<string, string>> = {
  run_live: "their runs go on; redrive them once those are over, or cancel those",
  test_run: "they are of test runs, whose graphs were not saved",
  not_open: "they are unknown, or dealt with already",
  workflow_deleted: "their workflows were deleted",
};

const plainLeft = ({ reason, count }: LeftDeadLetters) => ({ reason, count });

const leftLines = (left: readonly LeftDeadLetters[]): string[] =>
  left.map(({ reason, count }) => `${count} left: ${ADVICE[reason] ?? reason}`);

function printTable(
  session: Session,
  heads: readonly string[],
  rows: readonly (readonly { readonly text: string }[])[],
): void {
  printLines(session, tableLines(heads, rows, canvasOf(session)));
}
