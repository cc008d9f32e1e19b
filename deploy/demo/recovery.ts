// The events of the run in `npm run demo`: a sentence for each, the moment of the kill, and the checks at the end. Pure.
import type { RunEvent } from "@pawl/proto/pawl/v1/event_pb";

/** The node that streams. */
export const STORY = "story";
/** The number of deltas before the kill: the middle of a sentence. */
const PIECES_BEFORE_KILL = 45;

/** The events so far, counted. */
export type Recovery = {
  eventIds: bigint[];
  /** The number of starts and completions of each node. */
  readonly started: Map<string, number>;
  readonly completed: Map<string, number>;
  pieces: number;
  /** The text streamed under the newest claim. */
  text: string;
  textEpoch: bigint;
  status: string;
  /** When the executor was killed and when the story started again, by the watcher's clock. */
  killedMs: number;
  againMs: number;
};

export const newRecovery = (): Recovery => ({
  eventIds: [],
  started: new Map(),
  completed: new Map(),
  pieces: 0,
  text: "",
  textEpoch: 0n,
  status: "running",
  killedMs: 0,
  againMs: 0,
});

/** Counts an event. True when it is time to kill the executor. */
export function notice(recovery: Recovery, event: RunEvent, nowMs: number): boolean {
  recovery.eventIds.push(event.eventId);
  const count = (counts: Map<string, number>): void =>
    void counts.set(event.nodeId, (counts.get(event.nodeId) ?? 0) + 1);
  if (event.fact.case === "nodeStarted") {
    count(recovery.started);
    if (event.nodeId === STORY) recovery.againMs = nowMs;
  }
  if (event.fact.case === "nodeCompleted") count(recovery.completed);
  if (event.type.startsWith("run.") && /completed|failed|cancelled|timed_out/.test(event.type))
    recovery.status = event.type.slice("run.".length);
  if (event.fact.case !== "nodeStreamDelta" || event.nodeId !== STORY) return false;
  // The first delta of a new claim replaces the text of the previous claim.
  if (event.epoch !== recovery.textEpoch) recovery.text = "";
  recovery.textEpoch = event.epoch;
  recovery.text += event.fact.value.text;
  recovery.pieces += 1;
  if (recovery.pieces !== PIECES_BEFORE_KILL) return false;
  recovery.killedMs = nowMs;
  return true;
}

/** A sentence about an event that matters to a person. */
export function sentenceOf({ type, fact, nodeId, epoch, eventId }: RunEvent): string | undefined {
  if (fact.case === "runRecovered") {
    const { executorId, reason } = fact.value;
    return `the scheduler takes the claim of executor ${shortOf(executorId)} back (${reason})`;
  }
  if (nodeId === "") return type === "run.started" ? "the run is accepted" : `the run: ${type}`;
  if (nodeId === "charge") return type === "node.completed" ? "the card is charged" : undefined;
  if (nodeId !== STORY) return undefined;
  if (fact.case === "nodeStarted")
    return `executor ${shortOf(fact.value.executorId)} starts the story (claim ${eventId})`;
  return type === "node.completed" ? `the story is complete (claim ${epoch})` : undefined;
}

const shortOf = (id: string): string => id.slice(-8);

/** One promise of the engine, and whether the run kept it. */
type Check = { readonly words: string; readonly isKept: boolean };

/** The checks of the run. `output` is its story. `charges` is the number of charges in the till. */
export function verdict(
  recovery: Recovery,
  { output, charges }: { readonly output: unknown; readonly charges: number },
): readonly Check[] {
  const { eventIds, started, completed, text, status } = recovery;
  const seconds = ((recovery.againMs - recovery.killedMs) / 1_000).toFixed(1);
  const times = (count: number): string => ["never", "once", "twice"][count] ?? `${count} times`;
  const starts = started.get(STORY) ?? 0;
  const ends = completed.get(STORY) ?? 0;
  return [
    { words: `the run ended as ${status}`, isKept: status === "completed" },
    {
      words: `${eventIds.length} events, each once and in order`,
      isKept: eventIds.every((id, index) => id === BigInt(index + 1)),
    },
    {
      words: `the story started ${times(starts)} (again after ${seconds} s) and completed ${times(ends)}`,
      isKept: starts === 2 && ends === 1,
    },
    { words: "its text is whole: nothing missing, nothing twice", isKept: output === text },
    { words: `the card was charged ${times(charges)}`, isKept: charges === 1 },
  ];
}
