// The tick: one transaction for all inputs that arrived, for all runs of the batch. It reads top to bottom as
//   fence, settle, plan, place, (claim,) commit, tell.
//
// The loop drafts a tick while the tick below it is being committed. The two never share a run. The tick holds back inputs about a run of
// the tick below until that commit is over, because only the commit gives the real seqs. Executors, callers and readers learn of a tick
// only after its commit.
//
// Races. Another scheduler decides about the same run at the same time: both plan on the version they know. The compare-and-swap lets one
// commit and fails the whole transaction of the other (RunMoved). The other drops its folds and tries again. Another scheduler pauses a
// workflow or a queue: a tick that started or claimed something under the earlier pauses fails the same way (PausesMoved). No commit fences
// a refusal, so the tick first judges an input that looks stale again on a fresh fold.

import type { RunId } from "@pawl/core/name/ids";
import { probe } from "@pawl/platform/lifecycle/probe";
import type { NewJob } from "@pawl/platform/queue/queue";
import type { CachedRun } from "../commit/cache.ts";
import { followAll, hasFollowers } from "../decide/follow-all.ts";
import { claimableTypes, type DecideParts } from "../decide/claim.ts";
import { countFacts } from "../commit/count.ts";
import { Draft } from "../commit/draft.ts";
import { type Input, runOf, type Reply } from "../inputs/input.ts";
import { place } from "../hand-off/place.ts";
import { tell } from "../hand-off/assignment.ts";
import { settleAll } from "../decide/settle-all.ts";
import { threadsOf } from "../decide/thread.ts";
import { hasGates, send } from "./send.ts";
import { inTickSpan } from "./tick-span.ts";

export type TickParts = DecideParts;

/** The counts of a committed tick. */
export interface TickReport {
  readonly batchSize: number;
  readonly eventCount: number;
  readonly claimCount: number;
  /** The soonest deadlines of the approvals and of the waits for signals that the tick opened, if there are any. */
  readonly approvalDueMs: number | undefined;
  readonly waitDueMs: number | undefined;
  /** How many events it sent to receivers of webhooks. */
  readonly postCount: number;
  /** Whether it ended temporary runs. */
  readonly endsTemporary: boolean;
  /** Whether the tick sent anything to write. */
  readonly hasWritten: boolean;
}

interface TickOptions {
  /** The tick that is being committed meanwhile. */
  readonly below?: Tick | undefined;
  /** How many jobs it may claim of each type. */
  readonly claimMax: number;
}

export class Tick {
  readonly #parts: TickParts;
  #below: Tick | undefined;
  readonly #draft: Draft;
  /** The draft of the jobs that come out of the queues inside the transaction. */
  readonly #claims: Draft;
  readonly #claimMax: number;
  #inputs: readonly Input[] = [];
  /** Inputs about runs of the tick below, until that tick is over. */
  #heldBack: readonly Input[] = [];
  readonly #left: Input[] = [];
  readonly #replies: Reply[] = [];
  readonly #over = Promise.withResolvers<void>();
  #isOver = false;

  constructor(parts: TickParts, { below, claimMax }: TickOptions) {
    this.#parts = parts;
    this.#claimMax = claimMax;
    this.#below = below;
    // Both drafts use one reading of the pauses. The commit proves that it was current.
    const { current: pauses } = parts.pauses;
    this.#draft = new Draft(parts.now(), pauses, parts);
    this.#claims = new Draft(this.#draft.now, pauses, parts, this.#draft.threads);
  }

  /** The inputs that the tick has taken so far. */
  get inputs(): readonly Input[] {
    return this.#inputs;
  }

  /** Every run of the tick. */
  get runIds(): readonly RunId[] {
    return [...new Set([...this.#inputs.map(runOf), ...this.#runs.map(idOf)])];
  }

  /** The runs whose jobs the tick claimed. */
  get claimedRuns(): readonly RunId[] {
    return [...new Set(this.#claims.runs.map(idOf))];
  }

  /** Inputs that the tick got and did not draft. They wait for another tick. */
  get left(): readonly Input[] {
    return [...this.#left, ...this.#heldBack];
  }

  /**
   * Whether the loop must give the tick no more inputs. The tick has enough to write; or it requests slots, which it does once; or the
   * pauses have changed since it began. It would judge later inputs by the old pauses.
   */
  get isFull(): boolean {
    const { isEnough, slots, pauses } = this.#draft;
    const { epoch } = this.#parts.pauses.current;
    return isEnough || !slots.isEmpty || pauses.epoch !== epoch;
  }

  /** Settles when it is committed or given up. */
  get over(): Promise<void> {
    return this.#over.promise;
  }

  get isOver(): boolean {
    return this.#isOver;
  }

  /**
   * Drafts the consequences of inputs, and of the inputs that it held back once the tick below is over. The loop may call it several times
   * before the commit. @throws the error of the draft; the loop then gives the tick up
   */
  async take(inputs: readonly Input[]): Promise<void> {
    const draft = this.#draft;
    const { now = [], later = [] } = Object.groupBy([...this.#heldBack, ...inputs], (input) =>
      this.#isMovedBelow(runOf(input)) ? "later" : "now",
    );
    this.#heldBack = later;
    // Record the inputs before anything can fail: the loop tries the inputs of a failed tick again.
    this.#inputs = [...this.#inputs, ...now];
    // The tick below may be moving a run of the same thread.
    if (threadsOf(now).length > 0) await this.#below?.over;
    const { replies, left } = await settleAll(this.#parts, draft, now);
    this.#replies.push(...replies);
    if (left.length > 0) this.#leave(left);
    if (hasFollowers(draft)) {
      // A parent, a child run or the next run of a thread may be any run, also one that the tick below is moving.
      await this.#below?.over;
      await followAll(this.#parts, draft);
    }
    place(draft, this.#parts);
  }

  #leave(left: readonly Input[]): void {
    const isLeft = new Set(left);
    this.#inputs = this.#inputs.filter((input) => !isLeft.has(input));
    this.#left.push(...left);
  }

  #isMovedBelow(runId: RunId): boolean {
    const below = this.#below;
    return below !== undefined && !below.isOver && below.#draft.concerns(runId);
  }

  /** Whether the commit only writes. Then the loop may draft the next tick meanwhile. A claimed job would change folds. */
  get isDecided(): boolean {
    const { waiting } = this.#parts;
    return this.#claimable.length === 0 && !hasGates(waiting, this.#draft, this.#claims);
  }

  /**
   * Commits everything. It calls `onWritten` once the commit is sent, so the next draft does not delay it.
   * @throws the error of the transaction
   */
  async commit(onWritten: () => void = () => {}): Promise<TickReport> {
    const { cache, waiting, journal, executors } = this.#parts;
    const draft = this.#draft;
    const claims = this.#claims;
    const claimable = this.#claimable;
    let hasWritten = false;
    try {
      if (!draft.isEmpty || claimable.length > 0 || waiting.mayRateSlotBeFree) {
        const claimMax = this.#claimMax;
        const counts = {
          inputCount: this.#inputs.length,
          eventCount: () => draft.eventCount + claims.eventCount,
        };
        const sent = await inTickSpan(draft.runs, counts, () =>
          journal.transact(
            (tx) => send(this.#parts, tx, { draft, claims, claimable, claimMax }),
            onWritten,
          ),
        );
        (sent.claimed === undefined ? draft : claims).settleSeqs(await sent.lastSeqs);
        hasWritten = true;
        probe("tick.after-commit");
      }
      onWritten();
      this.#replies.push(...(await draft.fenced.replies(cache, (runId) => draft.has(runId))));
      for (const run of this.#runs) cache.keepLive(run, draft.now);
      this.#expectDelayed();
      countFacts(draft);
      countFacts(claims);
      tell(executors, draft);
      tell(executors, claims);
      probe("tick.before-reply");
      for (const reply of this.#replies) reply();
      return {
        batchSize: this.#inputs.length,
        eventCount: draft.eventCount + claims.eventCount,
        claimCount: draft.claimCount + claims.claimCount,
        approvalDueMs: soonest(draft.approvals.opened.map(({ deadlineMs }) => deadlineMs)),
        waitDueMs: soonest([draft, claims].flatMap(timeoutsOf)),
        postCount: draft.postCount + claims.postCount,
        endsTemporary: draft.endsTemporary || claims.endsTemporary,
        hasWritten,
      };
    } catch (error) {
      // The fetched jobs are back in their queues.
      for (const type of claimable) waiting.enqueued(type);
      this.giveUp();
      throw error;
    } finally {
      this.#end();
    }
  }

  /** Drops the drafts. The loop gives the inputs to another tick. */
  giveUp(): void {
    for (const run of this.#runs) this.#parts.cache.drop(run.state.runId);
    this.#end();
  }

  #end(): void {
    if (this.#isOver) return;
    this.#isOver = true;
    // Otherwise each tick would keep the tick below it in memory, back to the first.
    this.#below = undefined;
    this.#draft.freeReserved();
    this.#claims.freeReserved();
    this.#over.resolve();
  }

  get #runs(): readonly CachedRun[] {
    return [...this.#draft.runs, ...this.#claims.runs];
  }

  get #claimable(): readonly string[] {
    const { waiting, executors } = this.#parts;
    if (this.#claimMax === 0) return [];
    return claimableTypes({ waiting, executors, pauses: { current: this.#draft.pauses } });
  }

  /**
   * Notes when delayed jobs are due. The database counts a delay from the beginning of the transaction, and the scheduler counts from after
   * the commit. So it is never early: an early fetch finds nothing, and the next look comes much later.
   */
  #expectDelayed(): void {
    const { waiting } = this.#parts;
    const jobs: readonly NewJob[] = [...this.#draft.jobs, ...this.#claims.jobs];
    for (const { nodeType, delayMs } of jobs)
      if (delayMs !== undefined) waiting.enqueued(nodeType, delayMs);
  }
}

const idOf = ({ state: { runId } }: CachedRun): RunId => runId;

const timeoutsOf = ({ waits }: Draft) => waits.opened.map(({ timeoutMs }) => timeoutMs);

function soonest(timesMs: readonly (number | null)[]): number | undefined {
  const all = timesMs.flatMap((ms) => ms ?? []);
  return all.length === 0 ? undefined : Math.min(...all);
}
