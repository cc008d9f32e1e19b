// Explains a wait for a slot of a concurrency key or of a rate. The answer names the key, the executions that hold its slots and how many
// are before it. For a rate, it also names the earliest time of its turn.

import { executionAt } from "../log/execution.ts";
import type { RunState } from "../log/state.ts";
import { nodeIdAt } from "../plan/place.ts";
import {
  limitKey,
  type ConcurrencyLimit,
  type FoldedLimits,
  type LimitOwner,
} from "../policy/limit.ts";
import type { Answer } from "./case.ts";
import type { SlotQuestion, SlotWait, WaitingRoom } from "./room.ts";
import { countText, durationText, listText } from "./words.ts";

interface Place {
  readonly nodeId: string;
  readonly iteration: number;
}

const THE_RUN: Place = { nodeId: "", iteration: 0 };

/** The question to the store about a run that has not begun. Empty if it has begun. */
export const slotsOfRun = (state: RunState, owner: LimitOwner): SlotQuestion[] =>
  state.isAdmitted ? [] : questions(THE_RUN, "run", owner, state);

/** The question to the store about an execution. Empty unless it is queued and has limits. */
export function slotsOfExecution(
  state: RunState,
  owner: LimitOwner,
  nodeIndex: number,
  iteration: number,
): SlotQuestion[] {
  const execution = executionAt(state, nodeIndex, iteration);
  if (execution?.status !== "queued") return [];
  const place = { nodeId: nodeIdAt(state, nodeIndex), iteration };
  return questions(place, "node", owner, execution);
}

function questions(
  place: Place,
  level: "run" | "node",
  owner: LimitOwner,
  { slot, rate }: FoldedLimits,
): SlotQuestion[] {
  const ask = (kind: "slot" | "rate", limit: ConcurrencyLimit | undefined): SlotQuestion[] =>
    limit === undefined ? [] : [{ ...place, kind, key: limitKey(kind, level, owner, limit) }];
  return [...ask("slot", slot), ...ask("rate", rate)];
}

/** Why an execution, or its run if no place is given, waits for its limits. Undefined if it does not wait. */
export function slotAnswer(
  { slotWaits = [], now }: WaitingRoom,
  limits: FoldedLimits,
  { nodeId, iteration }: Place = THE_RUN,
): Answer | undefined {
  const wait = slotWaits.find((each) => each.nodeId === nodeId && each.iteration === iteration);
  if (wait === undefined) return undefined;
  const { slot, rate } = limits;
  if (wait.kind === "slot") return slot && ofSlot(wait, slot.key);
  return rate && ofRate(wait, rate, now);
}

function ofSlot(wait: SlotWait, key: string): Answer {
  const { limit, takenCount, holders, aheadCount } = wait;
  const names = holders.map((holder) => `${nodeText(holder)}run ${holder.runId}`);
  const taken = takenCount >= limit ? `all ${limit}` : `${takenCount} of ${limit}`;
  const who = takenCount === 0 ? "" : `, by ${listText(names, takenCount)}`;
  return {
    reason: "WAITING_SLOT",
    summary: `It waits for a slot of concurrency key "${key}": ${taken} are taken${who}; ${beforeText(aheadCount)}.`,
    next: "Wait until one of them ends; or cancel one, or raise the limit in the workflow.",
    slot: { ...wait, key },
  };
}

function ofRate(wait: SlotWait, rate: NonNullable<FoldedLimits["rate"]>, now: number): Answer {
  const { limit, aheadCount, freeAt } = wait;
  // The executions before it take slots as these become free, round after round. Its own slot becomes free in the last round.
  const untilAt =
    freeAt === undefined
      ? undefined
      : freeAt + Math.floor(aheadCount / Math.max(1, limit)) * rate.perMs;
  const when =
    untilAt === undefined ? "" : `, so it starts in ${durationText(untilAt - now)} at the earliest`;
  return {
    reason: "WAITING_RATE",
    summary: `It waits for a start under rate key "${rate.key}", ${limit} in any ${durationText(rate.perMs)}; ${beforeText(aheadCount)}${when}.`,
    next: "Wait for its turn; or cancel the run, or raise the rate in the workflow.",
    slot: { ...wait, key: rate.key },
    ...(untilAt === undefined ? {} : { untilAt }),
  };
}

const nodeText = ({ nodeId, iteration }: Place): string => {
  if (nodeId === "") return "";
  return `${nodeId}${iteration === 0 ? "" : `[${iteration}]`} of `;
};

const beforeText = (aheadCount: number): string =>
  aheadCount === 0
    ? "it is next in line"
    : `${countText(aheadCount, "other")} ${aheadCount === 1 ? "is" : "are"} before it`;
