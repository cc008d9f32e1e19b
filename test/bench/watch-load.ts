// Many watchers of live runs at one gateway: every one gets every event in order, also over a killed gateway, and readers that stop reading
// cost little and are cut off with a cursor. The bench runs it at full size, and a test at a small one.

import { fork } from "node:child_process";
import { loadavg } from "node:os";
import { setTimeout as wait } from "node:timers/promises";
import { createClient } from "@connectrpc/connect";
import { createGrpcTransport } from "@connectrpc/connect-node";
import { createPawlClient, type PawlClient, pawlErrorFrom } from "@pawl/client";
import { EventService } from "@pawl/proto/pawl/v1/event_service_pb";
import type { Member } from "../support/member.ts";
import { heldMemory, peakMemory } from "./memory.ts";
import type { WatchNews, Watched, WatchOrder } from "./watch-process.ts";

interface WatchLoad {
  readonly url: string;
  readonly gateway: Pick<Member, "pid" | "kill" | "restart" | "logs">;
  readonly watchers: number;
  readonly runs: number;
  readonly processes: number;
  /** Events of each quiet run, and the time between two of them. */
  readonly pieces: number;
  readonly intervalMs: number;
  /** Readers that stop reading, and the runs whose loud output they leave unread to its end and for so long. */
  readonly stalled: number;
  readonly loudRuns: number;
  readonly loudNodes: number;
  readonly stallMs: number;
  /** How long the delays are measured before that. */
  readonly steadyMs: number;
  readonly progress?: (text: string) => void;
}

interface WatchFigures {
  /** Watchers that got every event of their run once, in order, to its end. */
  readonly complete: number;
  /** Events that all watchers got. */
  readonly delivered: number;
  readonly p50Ms: number;
  readonly p99Ms: number;
  /** The most resident memory of the gateway, and what it held after a collection while all watchers were connected. */
  readonly peakMb: number;
  readonly heldMb: number;
  /** From the kill of the gateway until every watcher was connected again. */
  readonly wholeMs: number;
  /** How much resident memory the readers that stopped cost, after a collection, and how much of it are objects and buffers. */
  readonly stalledMb: number;
  readonly stalledHeldMb: number;
  /** Readers that were cut off by a typed error with a cursor, and then read the rest from it. */
  readonly cutOff: number;
  /** The average number of processes that ran or waited for a core, while the delays were measured. */
  readonly loadAverage: number;
}

const QUIET = "bench-watch-quiet";
const LOUD = "bench-watch-loud";
/** A text has at most 64 KiB, and a definition 2 MiB. */
const LOUD_CHARACTERS = 60_000;

/** Runs the load and measures it. */
export async function watchLoad(load: WatchLoad): Promise<WatchFigures> {
  const { progress = () => undefined } = load;
  const client = createPawlClient({ baseUrl: load.url });
  await saveWorkflows(client, load);
  const memory = peakMemory(() => load.gateway.pid);
  // The processes start while the runs do.
  const children = Array.from({ length: load.processes }, startChild);
  try {
    progress(`starting ${load.runs} runs and ${load.watchers} watchers`);
    const runIds = await startRuns(client, QUIET, load.runs);
    children.forEach((child, part) => child.send(orderOf(load, runIds, part)));
    await Promise.all(children.map((child) => child.news("begun")));
    for (const child of children) child.send({ kind: "measure", isOn: true });
    await wait(load.steadyMs);
    for (const child of children) child.send({ kind: "measure", isOn: false });
    const [loadAverage = 0] = loadavg();
    const stalling = load.stalled === 0 ? NO_STALL : await stall(client, load);
    progress("killing the gateway");
    const killedAt = performance.now();
    for (const child of children) child.send({ kind: "mark" });
    const whole = Promise.all(children.map((child) => child.news("whole")));
    await load.gateway.kill("SIGKILL");
    await load.gateway.restart();
    await whole;
    const wholeMs = performance.now() - killedAt;
    progress("waiting for the ends");
    const ends = await Promise.all(children.map((child) => child.news("ended")));
    const watched = ends.flatMap((end) => end.watched);
    const delays = ends.flatMap((end) => end.delaysMs).toSorted((a, b) => a - b);
    const lengths = new Map<string, number>();
    for (const runId of runIds)
      lengths.set(runId, Number((await client.runs.get(runId)).run.lastEventId));
    return {
      complete: watched.filter((one) => isComplete(one, lengths)).length,
      delivered: watched.reduce((sum, { lastEventId }) => sum + lastEventId, 0),
      p50Ms: delays[Math.floor(delays.length * 0.5)] ?? 0,
      p99Ms: delays[Math.floor(delays.length * 0.99)] ?? 0,
      peakMb: memory.peakMb(),
      ...{ wholeMs, ...stalling, loadAverage },
    };
  } finally {
    memory.stop();
    client.close();
    for (const child of children) child.leave();
  }
}

const NO_STALL = { heldMb: 0, stalledMb: 0, stalledHeldMb: 0, cutOff: 0 };

/** Measures what readers cost that stop reading. Each measurement follows a collection, so garbage of the loud runs does not count. */
async function stall(client: PawlClient, load: WatchLoad): Promise<typeof NO_STALL> {
  const { progress = () => undefined } = load;
  const before = await heldMemory(load.gateway);
  progress(`${load.stalled} readers stop reading`);
  const runIds = await startRuns(client, LOUD, load.loudRuns);
  const goOn = Promise.withResolvers<void>();
  const reading = readLate(client, load, runIds, goOn.promise);
  await Promise.all(runIds.map((runId) => client.runs.wait(runId)));
  await wait(load.stallMs);
  const during = await heldMemory(load.gateway);
  goOn.resolve();
  return {
    heldMb: before.rssMb,
    stalledMb: Math.max(0, during.rssMb - before.rssMb),
    stalledHeldMb: Math.max(0, during.heldMb - before.heldMb),
    cutOff: await reading,
  };
}

const isComplete = (
  { runId, lastEventId, isInOrder, hasEnded }: Watched,
  lengths: ReadonlyMap<string, number>,
): boolean => isInOrder && hasEnded && lengths.get(runId) === lastEventId;

async function saveWorkflows(client: PawlClient, load: WatchLoad): Promise<void> {
  const text = (id: string, characters: number, chunk: number, intervalMs: number) => ({
    ...{ id, type: "text_stream", timeout_ms: 300_000 },
    config: { text: "x".repeat(characters), chunk_chars: chunk, interval_ms: intervalMs },
  });
  const chainOf = (nodes: readonly { readonly id: string }[]) => ({
    nodes,
    edges: nodes.slice(1).map(({ id }, index) => ({ source: nodes[index]?.id, target: id })),
  });
  const loud = Array.from({ length: load.loudNodes }, (_, index) =>
    text(`say-${index + 1}`, LOUD_CHARACTERS, 1_000, 5),
  );
  const quiet = chainOf([text("say", load.pieces, 1, load.intervalMs)]);
  await client.workflows.apply(JSON.stringify({ id: QUIET, ...quiet }));
  await client.workflows.apply(JSON.stringify({ id: LOUD, ...chainOf(loud) }));
}

const startRuns = async (client: PawlClient, workflowId: string, count: number) =>
  Promise.all(Array.from({ length: count }, async () => (await client.start(workflowId)).runId));

interface Child {
  send(order: WatchOrder): void;
  /** Ends the process. */
  leave(): void;
  /** Settles with the first news of that kind. */
  news<Kind extends WatchNews["kind"]>(
    kind: Kind,
  ): Promise<Extract<WatchNews, { readonly kind: Kind }>>;
}

/** The runs of a process: all processes watch all runs by turns. */
function orderOf(load: WatchLoad, runIds: readonly string[], part: number): WatchOrder {
  const all = Array.from({ length: load.watchers }, (_, index) => runIds[index % runIds.length]);
  const own = all.filter((_, index) => index % load.processes === part);
  return { kind: "watch", url: load.url, runIds: own.filter((runId) => runId !== undefined) };
}

function startChild(): Child {
  const child = fork(new URL("watch-process.ts", import.meta.url), { stdio: "inherit" });
  const come = new Map<string, PromiseWithResolvers<WatchNews>>();
  const slot = (kind: string): PromiseWithResolvers<WatchNews> => {
    const known = come.get(kind);
    if (known !== undefined) return known;
    const fresh = Promise.withResolvers<WatchNews>();
    come.set(kind, fresh);
    return fresh;
  };
  child.on("message", (news: WatchNews) => slot(news.kind).resolve(news));
  child.once("exit", () => {
    for (const { promise, reject } of come.values()) {
      promise.catch(() => undefined);
      reject(new Error("a process of watchers ended"));
    }
  });
  return {
    send: (order) => void child.send(order),
    leave: () => void child.kill("SIGKILL"),
    // The slot of a kind gets only news of that kind.
    news: (kind) => slot(kind).promise as never,
  };
}

/** Opens readers of loud runs, leaves them unread, and counts those that were cut off with a cursor and then read the rest from it. */
async function readLate(
  client: PawlClient,
  load: WatchLoad,
  runIds: readonly string[],
  stalled: Promise<unknown>,
): Promise<number> {
  const transports = Array.from({ length: Math.ceil(load.stalled / 50) }, () =>
    createGrpcTransport({ baseUrl: load.url }),
  );
  const readOne = async (index: number): Promise<boolean> => {
    const transport = transports[index % transports.length];
    const runId = runIds[index % runIds.length];
    if (transport === undefined || runId === undefined) return false;
    const events = createClient(EventService, transport);
    let last = 0n;
    try {
      for await (const message of events.watchRun({ runId })) {
        last = message.events.at(-1)?.eventId ?? last;
        await stalled;
      }
      return false;
    } catch (thrown) {
      const error = pawlErrorFrom(thrown);
      const cursor = BigInt(error.metadata["cursor"] ?? -1);
      if (error.reason !== "STREAM_LIMIT" || cursor !== last) return false;
      // The client of a user continues. It throws for a gap.
      for await (const event of client.watch(runId, { afterEventId: cursor })) {
        if (event.eventId !== last + 1n) return false;
        last = event.eventId;
      }
      return true;
    }
  };
  const late = await Promise.all(Array.from({ length: load.stalled }, (_, n) => readOne(n)));
  return late.filter(Boolean).length;
}
