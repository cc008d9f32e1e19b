// What a thread must hold after its runs, computed from the order of its line alone. A run adds its number to what the runs before it left, so a
// second run at the same time, a lost turn or a doubled one changes what the later runs begin with.
import { isDeepStrictEqual } from "node:util";
import { type Multitask, PawlError } from "@pawl/client";
import { type Run, StopMode } from "@pawl/proto/pawl/v1/run_pb";
import type { Client } from "pg";
import { type Expectation, expectationOf, STOPPED } from "./expectation.ts";
import type { Shape } from "./shape.ts";

/** A run of a thread as its client knows it. */
export type Turn = {
  readonly runId: string;
  /** The number that it adds. */
  readonly index: number;
  readonly multitask: Multitask;
  /** When its client asked first, and when the answer came. */
  readonly sentAt: number;
  readonly acceptedAt: number;
};

type Row = {
  readonly runId: string;
  readonly state: string;
  readonly stop: "interrupt" | "rollback" | null;
  readonly hasTaken: boolean;
  readonly fromRunId: string | null;
  readonly memory: unknown;
  readonly hasSaid: boolean;
};

const LINE = `
select l.run_id as "runId", l.state, r.stop, t.run_id is not null as "hasTaken", t.payload->>'fromRunId' as "fromRunId", t.value as memory,
  exists (select 1 from pawl.run_events e where e.run_id = l.run_id and e.node_id = 'say' and e.type = 'node.completed') as "hasSaid"
from pawl.thread_runs l join pawl.runs r using (run_id)
left join pawl.run_events t on t.run_id = l.run_id and t.type = 'run.thread.taken'
where l.thread_id = $1
order by l.position`;

const THREAD = "select status, memory from pawl.threads where thread_id = $1";

/** Which runs of a shape share a thread: those of the same group. */
export const threadOf = ({ name }: Shape, group: string): string =>
  `${name.replaceAll(" ", "-")}-${group}`;

/** The input of a start, and its thread if it has one. */
export function startOf(shape: Shape, index: number, group: string) {
  const input = { run: index };
  if (shape.multitask === undefined) return { input };
  const multitask = shape.multitask(index);
  return { input, multitask, threadId: threadOf(shape, group), createThread: true };
}

/** Whether a start was refused because its thread was busy and its strategy is `reject`. */
export const isTurnedAway = (error: unknown, multitask: Multitask | undefined): boolean =>
  multitask === "reject" && error instanceof PawlError && error.reason === "THREAD_BUSY";

/** How the run with this number must end, once it has ended. */
export const dueOf = (shape: Shape, index: number, { stop }: Run): Expectation =>
  shape.multitask !== undefined && stop !== StopMode.UNSPECIFIED
    ? STOPPED
    : expectationOf(shape.definition, shape.acts(index));

/** Every fault of a thread whose runs have ended. */
export async function threadFaults(
  db: Client,
  threadId: string,
  turns: readonly Turn[],
): Promise<string[]> {
  const { rows } = await db.query<Row>(LINE, [threadId]);
  const faults = [...orderFaults(rows, turns), ...stopFaults(rows, turns)];
  const indexOf = new Map(turns.map(({ runId, index }) => [runId, index]));
  let from: string | null = null;
  const said: number[] = [];
  for (const { runId, state, stop, hasTaken, fromRunId, memory, hasSaid } of rows) {
    if (state !== "over") faults.push(`${runId} is ${state}`);
    if (!hasTaken) {
      if (stop === null) faults.push(`${runId} never took the thread`);
      continue;
    }
    if (fromRunId !== from) faults.push(`${runId} follows ${fromRunId}, not ${from}`);
    if (!isDeepStrictEqual(memory, memoryWith(said)))
      faults.push(`${runId} begins with ${JSON.stringify(memory)}, not with ${said.join(", ")}`);
    if (stop === "rollback") continue;
    from = runId;
    if (hasSaid) said.push(indexOf.get(runId) ?? -1);
  }
  const { status, memory } = (await db.query(THREAD, [threadId])).rows[0] ?? {};
  if (status === "busy") faults.push("it is busy");
  if (!isDeepStrictEqual(memory, memoryWith(said)))
    faults.push(`it has ${JSON.stringify(memory)}, not ${said.join(", ")}`);
  return faults.map((fault) => `thread ${threadId}: ${fault}`);
}

const memoryWith = (said: readonly number[]): object => (said.length === 0 ? {} : { said });

/** The line has each accepted run once, in the order of acceptance. */
function orderFaults(rows: readonly Row[], turns: readonly Turn[]): string[] {
  const places = new Map(rows.map(({ runId }, place) => [runId, place]));
  const placeOf = ({ runId }: Turn): number => places.get(runId) ?? -1;
  const lost = turns.filter((turn) => placeOf(turn) < 0);
  const late = turns.flatMap((turn) =>
    turns
      .filter((other) => turn.acceptedAt < other.sentAt && placeOf(turn) > placeOf(other))
      .map((other) => `${turn.runId} was accepted before ${other.runId}, and is behind it`),
  );
  return [
    ...(rows.length === turns.length ? [] : [`${rows.length} runs of ${turns.length} accepted`]),
    ...lost.map(({ runId }) => `${runId} is not in the line`),
    ...late,
  ];
}

/** Only a later run whose strategy says so stops a run. */
function stopFaults(rows: readonly Row[], turns: readonly Turn[]): string[] {
  const strategies = new Map<string, string>(
    turns.map(({ runId, multitask }) => [runId, multitask]),
  );
  return rows.flatMap(({ runId, stop }, place) =>
    stop === null || rows.slice(place + 1).some((later) => strategies.get(later.runId) === stop)
      ? []
      : [`${runId} was stopped by ${stop}, and no later run asked for it`],
  );
}
