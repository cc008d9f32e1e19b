// Streaming: a model that says two thousand pieces at full speed, watched by fifty clients. Each piece carries the time at which
// the executor said it, so that what a client measures is the whole way: executor, log, gateway, socket. At full speed that is mostly
// waiting in line; the pace of a real model shows what the way itself takes.

import type { RunEvent } from "@pawl/proto/pawl/v1/event_pb";
import { median, percentile } from "./report.ts";
import type { Stack } from "./stack.ts";
import type { BenchParts } from "./throughput.ts";

interface Speech {
  readonly workflowId: string;
  readonly pieces: number;
  readonly intervalMs: number;
}

const FULL_SPEED: Speech = { workflowId: "stream", pieces: 2_000, intervalMs: 0 };
const PACED: Speech = { workflowId: "stream-paced", pieces: 200, intervalMs: 10 };
const WATCHERS = 50;
/** Long enough for every watcher to be there before the first word. */
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
  const perSecond = (count: (one: Watched) => number): number =>
    median(fast.map((round) => (1_000 * sum(round.map(count))) / spanMs(round)));
  add(
    "events delivered",
    perSecond((one) => one.events),
    "events/s",
  );
  add(
    "pieces delivered",
    perSecond((one) => one.delays.length),
    "pieces/s",
  );
  add("pieces per event", median(fast.map((round) => piecesPerEvent(round))), "pieces");
  for (const [name, fraction] of [
    ["p50", 0.5],
    ["p99", 0.99],
  ] as const) {
    const of = (round: readonly Watched[]) =>
      percentile(
        round.flatMap((one) => one.delays),
        fraction,
      );
    add(`executor to client ${name}, full speed`, median(fast.map(of)), "ms");
    add(`executor to client ${name}, 100 pieces/s`, median(paced.map(of)), "ms");
  }
}

type Round = readonly Watched[];

async function roundsOf(stack: Stack, speech: Speech, count: number): Promise<readonly Round[]> {
  await stack.client.apply(speech.workflowId, definitionOf(speech));
  await watchOnce(stack, speech);
  const rounds: Round[] = [];
  for (let round = 0; round < count; round++) rounds.push(await watchOnce(stack, speech));
  return rounds;
}

async function watchOnce(stack: Stack, { workflowId, pieces }: Speech): Promise<Round> {
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

/** From the first event anyone got to the last. */
const spanMs = (round: readonly Watched[]): number =>
  Math.max(
    1,
    Math.max(...round.map((one) => one.lastAt)) - Math.min(...round.map((one) => one.firstAt)),
  );
