// The first half of a tick: every input of the batch is fenced against the fold of its run, and what follows is drafted. A batch is taken
// run by run and only until there is enough to write; the rest is for the next tick, so that a tick stays short whatever comes at once.

import type { RunId } from "@pawl/core/name/ids";
import { quarantineReply } from "../recover/quarantine.ts";
import type { CachedRun, RunCache } from "./cache.ts";
import { findChildren } from "./child.ts";
import type { Definitions } from "./definitions.ts";
import type { Draft } from "./draft.ts";
import { byRun } from "./inbox.ts";
import { type FencedInput, type Input, isFenced, runOf, type StartInput } from "./input.ts";
import { type JudgedInput, type Reply, settle, settleStart } from "./settle.ts";

/**
 * A tick that has this much to write takes no further run: everybody waits for its commit, and a commit costs the same for two
 * thousand events as for ten. A hundred maps of a thousand that began at once were one tick of four seconds, up to seventeen.
 */
export const EVENTS_ENOUGH = 2_000;

/** What a tick stands on. */
export interface Ground {
  readonly cache: RunCache;
  readonly definitions: Definitions;
  /** The newest fold of a run: this tick's, that of the tick below, or the cached one. */
  readonly find: (runId: RunId) => CachedRun | undefined;
  /** Whether that fold is as new as a commit will prove, so that reading the store would tell nothing. */
  readonly isFresh: (runId: RunId) => boolean;
  /** Whether inputs about a run have to wait for the next tick. */
  readonly mustWait: (runId: RunId) => boolean;
}

interface SettledInputs {
  readonly replies: Reply[];
  /** Inputs that were not tried, of each run the last ones. */
  readonly left: readonly Input[];
}

/** Drafts what follows from the inputs, run by run, until there is enough to write. */
export async function settleAll(
  ground: Ground,
  draft: Draft,
  inputs: readonly Input[],
): Promise<SettledInputs> {
  const { cache, definitions } = ground;
  const replies: Reply[] = [];
  const folded = inputs.filter((input) => input.kind !== "start").map(runOf);
  await cache.ensure(folded.filter((runId) => !ground.isFresh(runId)));
  const children = await findChildren(definitions, inputs);
  const doubtful: JudgedInput[] = [];
  const left: Input[] = [];
  for (const ofRun of byRun(inputs)) {
    const isEnough = draft.eventCount >= EVENTS_ENOUGH;
    for (const [at, input] of ofRun.entries()) {
      if (isEnough || ground.mustWait(runOf(input)) || isOutOfPlace(draft, input)) {
        left.push(...ofRun.slice(at));
        break;
      }
      if (input.kind === "start") {
        replies.push(await begin(ground, draft, input));
        continue;
      }
      const quarantine = cache.quarantineOf(runOf(input));
      if (quarantine !== undefined) {
        replies.push(quarantineReply(input, quarantine));
        continue;
      }
      if (isFenced(input)) {
        addFenced(ground, draft, input);
        continue;
      }
      const result = settle(draft, ground.find(runOf(input)), input, children);
      if (result.kind === "drafted") replies.push(result.reply);
      else doubtful.push(input);
    }
    // At once, since what follows counts as well: one outcome may queue a thousand nodes.
    draft.plan();
  }
  if (doubtful.length > 0)
    replies.push(...(await settleDoubtful(ground, draft, doubtful, children)));
  draft.plan();
  return { replies, left };
}

/** Partial output moves the seqs of its run, and somebody was told the seqs of this one. */
const isOutOfPlace = (draft: Draft, input: Input): boolean =>
  input.kind === "streamed" && draft.isExact(runOf(input));

function addFenced(ground: Ground, draft: Draft, input: FencedInput): void {
  draft.fenced.add(input);
  const run = input.kind === "streamed" ? ground.find(runOf(input)) : undefined;
  if (run !== undefined) run.streamedIn = draft.serial;
}

async function begin({ definitions }: Ground, draft: Draft, input: StartInput): Promise<Reply> {
  const { runId, answer, definitionId, test } = input;
  const graph =
    test?.graph ?? definitions.cached(definitionId) ?? (await definitions.graph(definitionId));
  const { state } = settleStart(draft, graph, input);
  const isPaused = state.status === "paused";
  return () => {
    const lastSeq = draft.lengthOf(runId);
    answer.resolve({ runId, duplicate: false, lastSeq, isPaused });
  };
}

/** Judges inputs again on fresh folds. */
async function settleDoubtful(
  ground: Ground,
  draft: Draft,
  inputs: readonly JudgedInput[],
  children: Awaited<ReturnType<typeof findChildren>>,
): Promise<Reply[]> {
  await ground.cache.refresh(inputs.map(runOf).filter((runId) => !ground.isFresh(runId)));
  return inputs.map((input) => {
    const quarantine = ground.cache.quarantineOf(runOf(input));
    if (quarantine !== undefined) return quarantineReply(input, quarantine);
    const result = settle(draft, ground.find(runOf(input)), input, children);
    return result.kind === "drafted" ? result.reply : result.refuse;
  });
}
