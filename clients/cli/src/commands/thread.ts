// pawl thread create, list, get, state, watch, update, fork, delete.

import { type Json, plainThread, plainThreadState, threadStatusName } from "@pawl/client";
import type { Thread } from "@pawl/proto/pawl/v1/thread_pb";
import type { Command } from "commander";
import { atLeast, pageFlags, type PageFlags, type Verb } from "../grammar.ts";
import { isoText } from "../render/words.ts";
import { readJsonFlag } from "../run-input.ts";
import { print, printJson, printList, type Session, UsageError } from "../session.ts";
import { threadWatchVerb } from "./thread-watch.ts";

export function threadVerbs(thread: Command, verb: Verb): void {
  const metadata = "a JSON object that describes it: JSON, or @FILE";
  const moment = (command: Command): Command =>
    command
      .option("--at-run <id>", "after this run of the thread; default now")
      .option("--at-event <event>", "after this event of that run", atLeast(1));
  const assistant = "the assistant of starts that name no workflow";
  verb(thread, "create [thread]", "Create a thread", create)
    .option("--metadata <json>", metadata)
    .option("--assistant <id>", assistant);
  pageFlags(
    verb(thread, "list", "List threads", list).option(
      "--metadata <json>",
      "only threads whose metadata contains this JSON object",
    ),
  );
  verb(thread, "get <thread>", "Show a thread", get);
  moment(verb(thread, "state <thread>", "Show the memory that the next run begins with", state));
  threadWatchVerb(thread, verb);
  verb(thread, "update <thread>", "Replace the metadata of a thread, or its assistant", update)
    .option("--metadata <json>", metadata)
    .option("--assistant <id>", `${assistant}; "" for none`);
  moment(
    verb(thread, "fork <thread> [new]", "Create a thread with the state of another one", fork),
  ).option("--metadata <json>", metadata);
  verb(thread, "delete <thread>", "Delete a thread with its runs", remove).option(
    "--force",
    "cancel runs that have not ended",
  );
}

interface MetadataFlags {
  readonly metadata?: string;
}
interface AssistantFlags extends MetadataFlags {
  readonly assistant?: string;
}
interface MomentFlags {
  readonly atRun?: string;
  readonly atEvent?: number;
}

const metadataOf = async (
  session: Session,
  { metadata }: MetadataFlags,
): Promise<Json | undefined> =>
  metadata === undefined
    ? undefined
    : (JSON.parse(await readJsonFlag(session, "metadata", metadata)) as Json);

async function create(
  session: Session,
  threadId: string | undefined,
  flags: AssistantFlags,
): Promise<void> {
  const metadata = await metadataOf(session, flags);
  const { assistant: assistantId } = flags;
  const { client, interrupted: signal } = session;
  show(session, await client.threads.create(threadId, { metadata, assistantId, signal }));
}

async function list(session: Session, flags: PageFlags & MetadataFlags): Promise<void> {
  const metadata = await metadataOf(session, flags);
  const { limit: pageSize, pageToken } = flags;
  const { client, interrupted: signal, self } = session;
  const page = await client.threads.list({ metadata, pageSize, pageToken, signal });
  const { threads: items, nextPageToken } = page;
  printList(session, {
    items,
    json: { threads: items.map(plainThread), nextPageToken },
    none: `No threads. Make one with \`${self} thread create ID\`.`,
    heads: ["THREAD", "STATUS", "RUNS", "RUN", "UPDATED"],
    rowOf: (thread) => [
      thread.threadId,
      threadStatusName(thread.status),
      String(thread.runCount),
      thread.runId,
      isoText(thread.updateTime),
    ],
    next: [`${self} thread list`, nextPageToken],
  });
}

async function get(session: Session, threadId: string): Promise<void> {
  show(session, await session.client.threads.get(threadId, { signal: session.interrupted }));
}

async function state(session: Session, threadId: string, flags: MomentFlags): Promise<void> {
  const { atRun: runId, atEvent: atEventId } = flags;
  const { client, interrupted: signal } = session;
  printJson(
    session,
    plainThreadState(await client.threads.state(threadId, { runId, atEventId, signal })),
  );
}

async function update(session: Session, threadId: string, flags: AssistantFlags): Promise<void> {
  const metadata = await metadataOf(session, flags);
  const { assistant: assistantId } = flags;
  if (metadata === undefined && assistantId === undefined)
    throw new UsageError("Give --metadata or --assistant: what to change.");
  const { client, interrupted: signal } = session;
  show(session, await client.threads.update(threadId, metadata, { assistantId, signal }));
}

async function fork(
  session: Session,
  threadId: string,
  newThreadId: string | undefined,
  flags: MetadataFlags & MomentFlags,
): Promise<void> {
  const metadata = await metadataOf(session, flags);
  const { atRun: runId, atEvent: atEventId } = flags;
  const { client, interrupted: signal } = session;
  const options = { newThreadId, metadata, runId, atEventId, signal };
  show(session, await client.threads.fork(threadId, options));
}

async function remove(
  session: Session,
  threadId: string,
  { force }: { readonly force?: boolean },
): Promise<void> {
  await session.client.threads.delete(threadId, { force, signal: session.interrupted });
  print(session, { threadId, deleted: true }, () => [`${threadId} deleted, with its runs`]);
}

const show = (session: Session, thread: Thread): void =>
  print(session, plainThread(thread), () => {
    const { threadId, status, runId, runCount, forkedFrom, assistantId } = thread;
    const held = runId === "" ? "" : `, held by run ${runId}`;
    const origin = forkedFrom === "" ? "" : `, forked from ${forkedFrom}`;
    const by = assistantId === "" ? "" : `, assistant ${assistantId}`;
    return [`${threadId} ${threadStatusName(status)}${held}; ${runCount} runs${origin}${by}`];
  });
