// The first half of a tick: every input of the batch is fenced against the fold of its run, and what follows is drafted. A batch is taken
// run by run and only until there is enough to write; the rest is for the next tick, so that a tick stays short whatever comes at once.

import { planToFixpoint } from "@pawl/core/plan/plan";
import { quarantineReply } from "../recover/quarantine.ts";
import type { RunCache } from "./cache.ts";
import { findChildren } from "./child.ts";
import type { Definitions } from "./definitions.ts";
import type { Draft } from "./draft.ts";
import { byRun } from "./inbox.ts";
import { type Input, isFenced, runOf, type StartInput } from "./input.ts";
import { type JudgedInput, type Reply, settle, settleStart } from "./settle.ts";

/**
 * A tick that has this much to write takes no further run: everybody waits for its commit, and a commit costs the same for two
 * thousand events as for ten. A hundred maps of a thousand that began at once were one tick of four seconds, up to seventeen.
 */
const EVENTS_ENOUGH = 2_000;

export interface SettleParts {
  readonly cache: RunCache;
  readonly definitions: Definitions;
}

interface SettledInputs {
  readonly replies: Reply[];
  /** Inputs that were not tried, whole runs of them. */
  readonly left: readonly Input[];
}

/** Drafts what follows from the inputs, run by run, until there is enough to write. */
export async function settleAll(
  parts: SettleParts,
  draft: Draft,
  inputs: readonly Input[],
): Promise<SettledInputs> {
  const { cache, definitions } = parts;
  const replies: Reply[] = [];
  const folded = inputs.filter((input) => input.kind !== "start");
  await cache.ensure(folded.map(runOf));
  const children = await findChildren(definitions, inputs);
  const doubtful: JudgedInput[] = [];
  const left: Input[] = [];
  for (const ofRun of byRun(inputs)) {
    if (draft.eventCount >= EVENTS_ENOUGH) {
      left.push(...ofRun);
      continue;
    }
    for (const input of ofRun) {
      if (input.kind === "start") {
        replies.push(await begin(parts, draft, input));
        continue;
      }
      const quarantine = cache.quarantineOf(runOf(input));
      if (quarantine !== undefined) {
        replies.push(quarantineReply(input, quarantine));
        continue;
      }
      if (isFenced(input)) {
        draft.fenced.add(input);
        continue;
      }
      const result = settle(draft, cache.get(runOf(input)), input, children);
      if (result.kind === "drafted") replies.push(result.reply);
      else doubtful.push(input);
    }
    planIfTouched(draft, ofRun);
  }
  if (doubtful.length > 0)
    replies.push(...(await settleDoubtful(parts, draft, doubtful, children)));
  return { replies, left };
}

/** Plans at once, since what follows counts as well: one outcome may queue a thousand nodes. */
function planIfTouched(draft: Draft, [input]: readonly Input[]): void {
  const run = input && draft.run(runOf(input));
  if (run !== undefined) planToFixpoint(run.state, draft.now, (fact) => draft.append(run, fact));
}

async function begin(
  { definitions }: SettleParts,
  draft: Draft,
  input: StartInput,
): Promise<Reply> {
  const { runId, answer, definitionId, test } = input;
  const graph =
    test?.graph ?? definitions.cached(definitionId) ?? (await definitions.graph(definitionId));
  const { state } = settleStart(draft, graph, input);
  const isPaused = state.status === "paused";
  return () => answer.resolve({ runId, duplicate: false, lastSeq: state.lastSeq, isPaused });
}

/** Judges inputs again on fresh folds. A run with drafted facts is as fresh as its compare-and-swap will prove. */
async function settleDoubtful(
  parts: SettleParts,
  draft: Draft,
  inputs: readonly JudgedInput[],
  children: Awaited<ReturnType<typeof findChildren>>,
): Promise<Reply[]> {
  await parts.cache.refresh(inputs.map(runOf).filter((runId) => !draft.has(runId)));
  return inputs.map((input) => {
    const quarantine = parts.cache.quarantineOf(runOf(input));
    if (quarantine !== undefined) return quarantineReply(input, quarantine);
    const result = settle(draft, parts.cache.get(runOf(input)), input, children);
    return result.kind === "drafted" ? result.reply : result.refuse;
  });
}
