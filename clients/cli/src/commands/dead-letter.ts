// pawl queue depth; pawl dead-letter list, preview, redrive, discard.

import {
  deadLetterStateName,
  deadLetterStateOf,
  plainDeadLetter,
  type RedriveStep,
} from "@pawl/client";
import { DeadLetterState, type LeftDeadLetters } from "@pawl/proto/pawl/v1/queue_service_pb";
import type { Command } from "commander";
import { limitFlag, requestIdFlag, tokenFlag, type Verb, wholeNumber } from "../grammar.ts";
import { isoText } from "../render/words.ts";
import { print, printLines, printList, printNotes, type Session, UsageError } from "../session.ts";

interface Nouns {
  readonly queue: Command;
  readonly letter: Command;
}

export function deadLetterVerbs({ queue, letter }: Nouns, verb: Verb): void {
  const depths = "Count nodes by type: waiting, running, waiting for a person, given up";
  verb(queue, "depth", depths, depth);
  const which = (command: Command): Command =>
    limitFlag(
      command
        .option("--workflow <id>", "only runs of this workflow")
        .option("--node-type <type>", "only this node type")
        .option("--before <time>", "only those given up before: 2026-11-16T09:00:00Z"),
    );
  tokenFlag(
    which(verb(letter, "list", "List dead letters, newest first", list)).option(
      "--state <state...>",
      "open, redriven or discarded; default open",
    ),
  );
  which(verb(letter, "preview [ids...]", "Show the effect of a redrive; change nothing", preview));
  requestIdFlag(
    which(verb(letter, "redrive [ids...]", "Start their runs again as new runs", redrive))
      .option("--all", "all that are open")
      .option("--max-per-second <number>", "how many a second; default 50", wholeNumber),
  );
  requestIdFlag(
    which(verb(letter, "discard [ids...]", "Close dead letters without starting a run", discard)),
  );
}

interface Flags {
  readonly workflow?: string;
  readonly nodeType?: string;
  readonly before?: string;
  readonly limit?: number;
  readonly requestId?: string;
}

/** How many nodes are in each queue. */
async function depth(session: Session): Promise<void> {
  const { client, interrupted: signal } = session;
  const { total, queues, commands } = await client.queues.depth({ signal });
  const none = { waiting: 0, active: 0, paused: 0, deadLetter: 0, held: false };
  const all = { ...none, ...total, nodeType: "all" };
  const counts = ({ waiting, active, deadLetter }: typeof none) => ({
    waiting,
    active,
    deadLetter,
  });
  printList(session, {
    items: [...queues, all],
    json: {
      total: { ...counts(all), paused: all.paused },
      queues: queues.map((one) => ({ nodeType: one.nodeType, ...counts(one), held: one.held })),
      commands: { ...counts({ ...none, ...commands }), paused: commands?.paused ?? 0 },
    },
    none: "",
    heads: ["TYPE", "STATE", "WAITING", "ACTIVE", "PAUSED", "DEAD LETTERS"],
    rowOf: (one) => [
      one.nodeType,
      one.held ? "paused" : "",
      String(one.waiting),
      String(one.active),
      one === all ? String(one.paused) : "",
      String(one.deadLetter),
    ],
  });
  const { waiting = 0, active = 0, deadLetter = 0 } = commands ?? {};
  if (waiting + active + deadLetter === 0 || session.format === "json") return;
  const text = `${waiting} waiting, ${active} active, ${deadLetter} given up`;
  printLines(session, [`Commands: ${text}. See \`${session.self} command list\`.`]);
}

/** A page of dead letters. Only open ones unless the flags name other states. */
async function list(
  session: Session,
  flags: Flags & { readonly state?: readonly string[]; readonly pageToken?: string },
): Promise<void> {
  const { limit: pageSize, pageToken } = flags;
  const states = (flags.state ?? ["open"]).map((name) => {
    const state = deadLetterStateOf(name);
    if (state === undefined)
      throw new UsageError(`There is no state ${name}: open, redriven or discarded.`);
    return state;
  });
  const { client, interrupted: signal, self } = session;
  const asked = { ...selectionOf([], flags), states, pageSize, pageToken, signal };
  const { deadLetters: items, nextPageToken } = await client.deadLetters.list(asked);
  printList(session, {
    items,
    json: { deadLetters: items.map(plainDeadLetter), nextPageToken },
    none: "No dead letters.",
    heads: ["DEAD LETTER", "STATE", "RUN", "NODE", "TYPE", "DIED", "ERROR"],
    rowOf: (one) => [
      one.deadLetterId,
      deadLetterStateName(one.state),
      one.runId,
      one.iteration === 0 ? one.nodeId : `${one.nodeId}[${one.iteration}]`,
      one.nodeType,
      isoText(one.dieTime),
      one.state === DeadLetterState.REDRIVEN ? one.redriveRunId : one.errorMessage,
    ],
    next: [`${self} dead-letter list`, nextPageToken],
  });
}

/** Prints the effect of a redrive. */
async function preview(session: Session, ids: readonly string[], flags: Flags): Promise<void> {
  const { client, interrupted: signal } = session;
  const asked = { ...selectionOf(ids, flags), limit: flags.limit, signal };
  const { redriven, runs, left, firstIds } = await client.deadLetters.preview(asked);
  print(session, { redriven, runs, left: left.map(plainLeft), firstIds }, () => [
    `${redriven} would be redriven, as ${runs} new runs`,
    ...firstIds.map((id) => `  ${id}`),
    ...leftLines(left),
  ]);
}

/** Starts the runs of dead letters again. */
async function redrive(
  session: Session,
  ids: readonly string[],
  flags: Flags & { readonly maxPerSecond?: number; readonly all?: true },
): Promise<void> {
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
    const lines = step.redriven.map(
      (each) => `${each.deadLetterId} continues as run ${each.runId}`,
    );
    printLines(session, lines);
    if (step.remaining > 0 && step.redriven.length > 0 && step.redrivenCount !== limit)
      printNotes(session, [
        `${step.redrivenCount} redriven, ${manyText(step.remaining)} to go; if this stops, continue with --request-id ${requestId}`,
      ]);
  }
  const { left, remaining } = last;
  const more = remaining === 0 ? [] : [`${manyText(remaining)} more match`];
  const json = { requestId, redriven: runs, left: left.map(plainLeft), remaining };
  print(session, json, () => [`${runs.length} redriven`, ...more, ...leftLines(left)]);
}

/** The server counts up to 1,000. */
const manyText = (count: number): string => (count < 1_000 ? String(count) : "1000 or more");

/** Closes dead letters without starting a run. */
async function discard(session: Session, ids: readonly string[], flags: Flags): Promise<void> {
  mustName(ids, flags, "discard", "narrow them by a flag");
  const { client, interrupted: signal } = session;
  const { limit, requestId } = flags;
  const asked = { ...selectionOf(ids, flags), limit, requestId, signal };
  const deadLetterIds = await client.deadLetters.discard(asked);
  print(session, { deadLetterIds }, () => [`${deadLetterIds.length} discarded`]);
}

function selectionOf(ids: readonly string[], flags: Flags) {
  const { workflow: workflowId, nodeType, before: text } = flags;
  const before = text === undefined ? undefined : new Date(text);
  if (before !== undefined && Number.isNaN(before.getTime()))
    throw new UsageError("--before takes a time such as 2026-11-16T09:00:00Z.");
  return { ids, workflowId, nodeType, before };
}

function mustName(ids: readonly string[], flags: Flags, verb: string, otherwise: string): void {
  const { workflow, nodeType, before } = flags;
  if (ids.length === 0 && (workflow ?? nodeType ?? before) === undefined)
    throw new UsageError(`Name the dead letters to ${verb}, or ${otherwise}.`);
}

const ADVICE: Readonly<Record<string, string>> = {
  run_live: "their runs are live; redrive them after those end, or cancel those",
  test_run: "they are of test runs, whose graphs were not saved",
  not_open: "they are unknown, or dealt with already",
  workflow_deleted: "their workflows were deleted",
  assistant_deleted: "their assistants were deleted",
};

const plainLeft = ({ reason, count }: LeftDeadLetters) => ({ reason, count });

const leftLines = (left: readonly LeftDeadLetters[]): string[] =>
  left.map(({ reason, count }) => `${count} left: ${ADVICE[reason] ?? reason}`);
