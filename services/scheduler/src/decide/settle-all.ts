// The first half of a tick. It checks every input of the batch against the fold of its run and drafts the consequences. It takes the batch
// run by run, until there is enough to write. The other inputs wait for the next tick, so a tick stays short.

import { runStatus } from "@pawl/core/log/fold";
import { acceptedRun, type AcceptedStart, type AskedThread } from "@pawl/core/log/start";
import { EngineError } from "@pawl/core/fault/engine-error";
import type { CachedRun } from "../commit/cache.ts";
import { quarantineReply } from "../inputs/quarantine.ts";
import { findChildren } from "./child.ts";
import type { Definitions } from "../commit/definitions.ts";
import type { Draft } from "../commit/draft.ts";
import { byRun } from "../inputs/inbox.ts";
import { type Input, isFenced, runOf, type StartInput, type Reply } from "../inputs/input.ts";
import { type JudgedInput, type Settled, settle, settleStart } from "./settle.ts";
import { readThreads, startOnThread, type ThreadParts, threadsOf } from "./thread.ts";

interface SettleParts extends ThreadParts {
  readonly definitions: Definitions;
}

interface SettledInputs {
  readonly replies: Reply[];
  /** Inputs that the tick did not try. */
  readonly left: readonly Input[];
}

/** Drafts the consequences of the inputs, run by run, until there is enough to write. */
export async function settleAll(
  parts: SettleParts,
  draft: Draft,
  inputs: readonly Input[],
): Promise<SettledInputs> {
  const { cache, definitions } = parts;
  const replies: Reply[] = [];
  const folded = inputs.filter((input) => input.kind !== "start").map(runOf);
  await cache.ensure(folded.filter((runId) => !draft.has(runId)));
  await readThreads(parts, draft, threadsOf(inputs));
  const children = await findChildren(definitions, inputs);
  const judge = (input: JudgedInput): Settled =>
    settle(draft, draft.run(runOf(input)) ?? cache.get(runOf(input)), input, children);
  const doubtful: JudgedInput[] = [];
  const left: Input[] = [];
  for (const ofRun of byRun(inputs)) {
    if (draft.isEnough) {
      left.push(...ofRun);
      continue;
    }
    for (const input of ofRun) {
      const quarantine = cache.quarantineOf(runOf(input));
      if (input.kind === "start") replies.push(await begin(parts, draft, input));
      else if (quarantine !== undefined) replies.push(quarantineReply(input, quarantine));
      else if (isFenced(input)) draft.fenced.add(input);
      else {
        const result = judge(input);
        if (result.kind === "drafted") replies.push(result.reply);
        else doubtful.push(input);
      }
    }
    // Plan at once, because consequences count too: one outcome may queue a thousand nodes.
    draft.plan();
  }
  if (doubtful.length === 0) return { replies, left };
  // The commit does not fence a refusal, so the tick refuses only on a fresh fold.
  await cache.refresh(doubtful.map(runOf).filter((runId) => !draft.has(runId)));
  for (const input of doubtful) {
    const quarantine = cache.quarantineOf(runOf(input));
    if (quarantine !== undefined) {
      replies.push(quarantineReply(input, quarantine));
      continue;
    }
    const result = judge(input);
    replies.push(result.kind === "drafted" ? result.reply : result.refuse);
  }
  draft.plan();
  return { replies, left };
}

async function begin(parts: SettleParts, draft: Draft, input: StartInput): Promise<Reply> {
  const { start, test, answer } = input;
  const { definitions } = parts;
  const { runId, definitionId } = start;
  const graph =
    test?.graph ?? definitions.cached(definitionId) ?? (await definitions.graph(definitionId));
  if (test !== undefined) draft.testGraphs.push(test.row);
  // The caller gets the status with which the run begins, even if glue nodes end the run in the same tick.
  let run: CachedRun;
  try {
    run = isOnThread(start)
      ? startOnThread(parts, draft, graph, start)
      : settleStart(draft, graph, start);
  } catch (error) {
    if (!(error instanceof EngineError)) throw error;
    return () => answer.reject(error);
  }
  const status = runStatus(run.state);
  return () => {
    const accepted = acceptedRun(start, { status, lastSeq: draft.lengthOf(runId) });
    answer.resolve({ duplicate: false, ...accepted });
  };
}

const isOnThread = (start: AcceptedStart): start is AcceptedStart & { thread: AskedThread } =>
  start.thread !== undefined;
