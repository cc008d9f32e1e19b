// Streaming: a model writes two thousand pieces at full speed, and fifty clients watch. Each piece carries the time at which the executor
// wrote it, so a client measures the whole way: executor, log, gateway, socket. At full speed a piece mostly waits in line. The pace of a
// real model shows how long the way itself takes.

import type { RunEvent } from "@pawl/proto/pawl/v1/event_pb";
import { median, percentile, progress } from "./report.ts";
import type { Stack } from "./stack.ts";
import type { BenchParts } from "./throughput.ts";

interface Speech {
  readonly workflowId: string;
  readonly pieces: number;
  readonly intervalMs: number;
}

export const FULL_SPEED: Speech = { workflowId: "stream", pieces: 2_000, intervalMs: 0 };
export const PACED: Speech = { workflowId: "stream-paced", pieces: 200, intervalMs: 10 };
const WATCHERS = 50;
/** Long enough for every watcher to be connected before the first piece. */
const HEAD_START_MS = 2_000;
const MARK = /(\d+):(\d+) /g;

const definitionOf = ({ pieces, intervalMs }: Speech) => ({
  nodes: [
    { id: "start", type: "start" },
    { id: "wait", type: "delay", config: { delay_ms: HEAD_START_MS } },
    {
      id: "talk",
      type: "llm",
      config: { model: `offline/clock?tokens=${pieces}&interval_ms=${intervalMs}`, prompt: "go" },
    },
  ],
  edges: [
    { source: "start", target: "wait" },
    { source: "wait", target: "talk" },
  ],
});

interface Watched {
  /** Milliseconds from the executor to here, of every piece. */
  readonly delays: number[];
  /** Every piece once, in order. */
  isWhole: boolean;
  events: number;
  firstAt: number;
  lastAt: number;
}

export async function stream({ stack, report, rounds }: BenchParts): Promise<void> {
  const fast = await roundsOf(stack, FULL_SPEED, rounds);
  const paced = await roundsOf(stack, PACED, rounds);
  const add = (metric: string, value: number, unit: string, more: object = {}): void =>
    report.add({ bench: "stream", metric, value, unit, ...more });
  const whole = Math.min(
    ...[...fast, ...paced].map((round) => round.filter((one) => one.isWhole).length),
  );
  add("watchers with every piece, in order", whole, `of ${WATCHERS}`, {
    floor: `= ${WATCHERS}`,
    reached: whole === WATCHERS,
  });
  add("events delivered", median(fast.map(eventsPerSecond)), "events/s");
  add("pieces delivered", median(fast.map(piecesPerSecond)), "pieces/s");
  add("pieces per event", median(fast.map((round) => piecesPerEvent(round))), "pieces");
  for (const [name, fraction] of [
    ["p50", 0.5],
    ["p99", 0.99],
  ] as const) {
    const of = (round: Round): number => delayOf(round, fraction);
    add(`executor to client ${name}, full speed`, median(fast.map(of)), "ms");
    add(`executor to client ${name}, 100 pieces/s`, median(paced.map(of)), "ms");
  }
}

/** What all watchers of one run saw. */
type Round = readonly Watched[];

/** Milliseconds from the executor to the client, of all pieces of all watchers. */
export const delayOf = (round: Round, fraction: number): number =>
  percentile(
    round.flatMap((one) => one.delays),
    fraction,
  );

const perSecond = (round: Round, count: (one: Watched) => number): number =>
  (1_000 * sum(round.map(count))) / spanMs(round);

export const piecesPerSecond = (round: Round): number =>
  perSecond(round, (one) => one.delays.length);

const eventsPerSecond = (round: Round): number => perSecond(round, (one) => one.events);

async function roundsOf(stack: Stack, speech: Speech, count: number): Promise<readonly Round[]> {
  await prepareSpeech(stack, speech);
  const rounds: Round[] = [];
  for (let round = 0; round < count; round++) rounds.push(await watchOnce(stack, speech));
  return rounds;
}

/** Saves the workflow and runs it once, unmeasured. */
export async function prepareSpeech(stack: Stack, speech: Speech): Promise<void> {
  progress(`${speech.workflowId}: warming up`);
  await stack.client.apply(speech.workflowId, definitionOf(speech));
  await watchOnce(stack, speech);
}

/** One run, watched by all watchers to its end. */
export async function watchOnce(stack: Stack, { workflowId, pieces }: Speech): Promise<Round> {
  const { client } = stack;
  const runId = await client.start(workflowId);
  return await Promise.all(
    Array.from({ length: WATCHERS }, async () => {
      const watched: Watched = { delays: [], isWhole: true, events: 0, firstAt: 0, lastAt: 0 };
      await client.watch(runId, (event) => take(watched, event));
      watched.isWhole &&= watched.delays.length === pieces;
      return watched;
    }),
  );
}

function take(watched: Watched, { fact }: RunEvent): void {
  if (fact.case !== "nodeStreamDelta") return;
  const now = Date.now();
  watched.events++;
  watched.firstAt ||= now;
  watched.lastAt = now;
  for (const [, index, at] of fact.value.text.matchAll(MARK)) {
    if (Number(index) !== watched.delays.length) watched.isWhole = false;
    watched.delays.push(now - Number(at));
  }
}

const sum = (values: readonly number[]): number =>
  values.reduce((total, value) => total + value, 0);

const piecesPerEvent = (round: readonly Watched[]): number =>
  sum(round.map((one) => one.delays.length)) / sum(round.map((one) => one.events));

/** From the first event that any watcher got to the last. */
const spanMs = (round: readonly Watched[]): number =>
  Math.max(
    1,
    Math.max(...round.map((one) => one.lastAt)) - Math.min(...round.map((one) => one.firstAt)),
  );
