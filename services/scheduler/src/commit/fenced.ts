// Inputs that only their lease judges: stream deltas, effects, and requests for more time. They change no decision, so they need no fold
// and no new version of the run. Their statements compare the epoch and the executor under the lock of the run, in the transaction of the
// tick.
//
// The tick judges a refused input again on a fresh fold, to find the right answer. The answer is `settled` if the outcome of the claim is
// committed: the acknowledgement was lost, and the executor sends everything again. Otherwise the answer is `stale`.

import { executionAt } from "@pawl/core/log/execution";
import { arrivalOf } from "@pawl/core/plan/arrive";
import type { RunId } from "@pawl/core/name/ids";
import type { Begun, Committed } from "@pawl/platform/store/effects/effects";
import type { ClaimKey } from "@pawl/platform/store/leases/leases";
import type { Transaction } from "@pawl/platform/store/tick/journal";
import type { RunCache } from "./cache.ts";
import type {
  Answer,
  BeginInput,
  CommitInput,
  ExtendInput,
  FencedInput,
  Standing,
  StreamedInput,
  Reply,
} from "../inputs/input.ts";

interface Answers {
  readonly streamed: Promise<readonly boolean[]>;
  readonly begun: Promise<readonly Begun[]>;
  readonly committed: Promise<readonly Committed[]>;
  readonly extended: Promise<readonly boolean[]>;
}

export class Fenced {
  readonly #streamed: StreamedInput[] = [];
  readonly #begins: BeginInput[] = [];
  readonly #commits: CommitInput[] = [];
  readonly #extensions: ExtendInput[] = [];
  readonly #runs = new Set<RunId>();
  #answers: Answers | undefined;

  get isEmpty(): boolean {
    return this.#runs.size === 0;
  }

  has(runId: RunId): boolean {
    return this.#runs.has(runId);
  }

  /** Runs with new stream deltas. The commit notifies their readers. */
  get streamedRuns(): ReadonlySet<RunId> {
    return new Set(this.#streamed.map(({ fact }) => fact.runId));
  }

  add(input: FencedInput): void {
    if (input.kind === "streamed") this.#streamed.push(input);
    else if (input.kind === "begin_effect") this.#begins.push(input);
    else if (input.kind === "commit_effect") this.#commits.push(input);
    else this.#extensions.push(input);
    this.#runs.add(claimOf(input).runId);
  }

  /** Sends the statements, before those that close leases in this transaction. */
  send(tx: Transaction): void {
    if (this.isEmpty) return;
    void tx.lock([...this.#runs]);
    this.#answers = {
      streamed: tx.stream(this.#streamed.map(({ fact }) => fact)),
      begun: tx.beginEffects(this.#begins.map(({ effect }) => effect)),
      committed: tx.commitEffects(this.#commits.map(({ effect }) => effect)),
      extended: tx.extendLeases(this.#extensions.map(({ extension }) => extension)),
    };
  }

  /** The answers after the commit. `isFresh` tells whether the cached fold of a run is the newest. */
  async replies(cache: RunCache, isFresh: (runId: RunId) => boolean): Promise<Reply[]> {
    if (this.#answers === undefined) return [];
    const { streamed, begun, committed, extended } = this.#answers;
    const [kept, states, results, longer] = await Promise.all([
      streamed,
      begun,
      committed,
      extended,
    ]);
    const refused = [
      ...this.#streamed.filter((_, at) => kept[at] !== true),
      ...this.#begins.filter((_, at) => states[at]?.state === "stale"),
      ...this.#commits.filter((_, at) => results[at] === "stale"),
      ...this.#extensions.filter((_, at) => longer[at] !== true),
    ].map(claimOf);
    await cache.refresh(refused.map(({ runId }) => runId).filter((runId) => !isFresh(runId)));
    const why = (input: FencedInput): "settled" | "stale" => whyRefused(cache, claimOf(input));
    const standing = (input: FencedInput, holds: boolean | undefined): Standing =>
      holds === true ? "held" : why(input);
    return [
      ...this.#streamed.map((input, at) => reply(input.answer, standing(input, kept[at]))),
      ...this.#begins.map((input, at) => {
        const known = states[at];
        const is = known === undefined || known.state === "stale" ? why(input) : known;
        return reply(input.answer, is);
      }),
      ...this.#commits.map((input, at) => {
        const result = results[at] ?? "stale";
        return reply(input.answer, result === "stale" ? why(input) : result);
      }),
      ...this.#extensions.map((input, at) => reply(input.answer, standing(input, longer[at]))),
    ];
  }
}

/** Fixes the answer now and sends it later: a run that ends in this tick leaves the cache before the answers are sent. */
const reply =
  <T>(answer: Answer<T>, value: T): Reply =>
  () =>
    answer.resolve(value);

/** The claim that an input is about. */
function claimOf(input: FencedInput): ClaimKey {
  if (input.kind === "streamed") return input.fact;
  return input.kind === "extend" ? input.extension : input.effect;
}

function whyRefused(cache: RunCache, claim: ClaimKey): "settled" | "stale" {
  const state = cache.get(claim.runId)?.state;
  const nodeIndex = state?.graph.indexOf.get(claim.nodeId);
  if (state === undefined || nodeIndex === undefined) return "stale";
  const execution = executionAt(state, nodeIndex, claim.iteration);
  return arrivalOf(execution, claim) === "duplicate" ? "settled" : "stale";
}
