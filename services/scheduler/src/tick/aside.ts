// Runs that cannot move now for a reason of their own: another session holds their row, or every commit with them fails. The inputs about
// such a run wait here and not in the inbox, so that they delay no other run. After a while the run is tried again, alone.
//
// Order survives: while a run is here, new inputs about it are kept behind those that are here already. An executor repeats a result
// until it is acknowledged; the repeat replaces the earlier one.
//
//   inbox ─ divert ─▶ waiting ─ its time is over, and nothing it waits for is locked ─▶ released ─ take ─▶ tried alone

import { BoundedMap } from "@pawl/core/data/bounded-map";
import { EngineError } from "@pawl/core/fault/engine-error";
import type { RunId } from "@pawl/core/name/ids";
import type { Cancel, Timers } from "@pawl/platform/lifecycle/timers";
import type { Recovery } from "@pawl/platform/store/recovery/recovery";
import { type Claim, type Input, isFenced, runOf } from "../inputs/input.ts";
import { withoutRepeats } from "../inputs/inbox.ts";

const WAIT_MIN_MS = 50;
const WAIT_MAX_MS = 2_000;
/** A run that is held again within this time keeps its previous wait. */
const MEMORY_MS = 10_000;
/** How long callers and sweeps wait. They may repeat their inputs. */
const PATIENCE_MS = 3_000;
/** How many waits are remembered. A forgotten run starts with the shortest wait. */
const REMEMBERED_MAX = 1_000;

interface AsideParts {
  readonly recovery: Pick<Recovery, "lockedRuns">;
  readonly timers: Timers;
  readonly steady: () => number;
  /** Called when `take` has something to return. */
  readonly onDue: () => void;
}

/** Why a run waits. */
export interface Obstacle {
  readonly error: unknown;
  /** The runs whose rows another session locked: this run, or a run that moves with it. The run waits until they are free. */
  readonly locked?: readonly RunId[];
}

interface Kept {
  readonly input: Input;
  readonly since: number;
}

interface Entry {
  kept: Kept[];
  obstacle: Obstacle;
  waitMs: number;
  cancel: Cancel;
}

export class Aside {
  readonly #parts: AsideParts;
  readonly #entries = new Map<RunId, Entry>();
  readonly #released = new Set<RunId>();
  readonly #waits = new BoundedMap<RunId, { readonly ms: number; readonly at: number }>(
    REMEMBERED_MAX,
  );

  constructor(parts: AsideParts) {
    this.#parts = parts;
  }

  has(runId: RunId): boolean {
    return this.#entries.has(runId);
  }

  /** Whether a run is due to be tried again. */
  get isDue(): boolean {
    return this.#released.size > 0;
  }

  /** Keeps inputs about runs that wait here. Returns the others. */
  divert(inputs: readonly Input[]): readonly Input[] {
    if (this.#entries.size === 0) return inputs;
    return inputs.filter((input) => {
      const entry = this.#entries.get(runOf(input));
      if (entry !== undefined) this.#keep(entry, [input]);
      return entry === undefined;
    });
  }

  /** Makes a run wait, with the inputs about it. */
  hold(runId: RunId, inputs: readonly Input[], obstacle: Obstacle): void {
    const found = this.#entries.get(runId);
    const waitMs = this.#nextWait(runId);
    if (found !== undefined) found.cancel();
    this.#released.delete(runId);
    const entry: Entry = { kept: [], obstacle, waitMs, cancel: () => {} };
    this.#entries.set(runId, entry);
    this.#keep(entry, inputs);
    entry.kept.push(...(found?.kept ?? []));
    this.#arm(runId, entry);
  }

  /** The inputs of a run that is to be tried again, in the order in which they came. The run does not wait here any more. */
  take(): readonly Input[] {
    const [runId] = this.#released;
    if (runId === undefined) return [];
    this.#released.delete(runId);
    const entry = this.#entries.get(runId);
    this.#entries.delete(runId);
    return (entry?.kept ?? []).map(({ input }) => input);
  }

  /** The store accepts commits again. Every run is tried again now, except those whose rows are locked. */
  hurry(): void {
    for (const [runId, entry] of this.#entries)
      if ((entry.obstacle.locked ?? []).length === 0) this.#release(runId, entry);
  }

  /** The inputs about a run, and the reason why they wait. */
  about(runId: RunId): { readonly inputs: readonly Input[]; readonly error: unknown } | undefined {
    const entry = this.#entries.get(runId);
    return entry && { inputs: entry.kept.map(({ input }) => input), error: entry.obstacle.error };
  }

  /** Ends every wait. Refuses inputs whose senders may repeat them. Executors repeat results that are not acknowledged. */
  stop(error: EngineError): void {
    for (const { cancel, kept } of this.#entries.values()) {
      cancel();
      for (const { input } of kept) if (!isKept(input)) input.answer.reject(error);
    }
    this.#entries.clear();
    this.#released.clear();
  }

  #keep(entry: Entry, inputs: readonly Input[]): void {
    const since = this.#parts.steady();
    const all = [...entry.kept, ...inputs.map((input) => ({ input, since }))];
    entry.kept = withoutRepeats(all, ({ input }) => input);
  }

  #arm(runId: RunId, entry: Entry): void {
    entry.cancel = this.#parts.timers.after(entry.waitMs, () => void this.#look(runId, entry));
  }

  async #look(runId: RunId, entry: Entry): Promise<void> {
    this.#loseImpatient(runId, entry);
    const isHeld = await this.#isLocked(entry.obstacle.locked ?? []);
    // The run may have been taken, or held again, meanwhile.
    if (this.#entries.get(runId) !== entry) return;
    if (!isHeld) return this.#release(runId, entry);
    entry.waitMs = Math.min(WAIT_MAX_MS, entry.waitMs * 2);
    this.#arm(runId, entry);
  }

  async #isLocked(runIds: readonly RunId[]): Promise<boolean> {
    try {
      return runIds.length > 0 && (await this.#parts.recovery.lockedRuns(runIds)).length > 0;
    } catch {
      // The store does not answer; ask it again later.
      return true;
    }
  }

  #release(runId: RunId, entry: Entry): void {
    entry.cancel();
    this.#waits.set(runId, { ms: entry.waitMs, at: this.#parts.steady() });
    this.#released.add(runId);
    this.#parts.onDue();
  }

  #loseImpatient(runId: RunId, entry: Entry): void {
    const now = this.#parts.steady();
    const isLost = ({ input, since }: Kept): boolean =>
      !isKept(input) && now - since >= PATIENCE_MS;
    const lost = entry.kept.filter(isLost);
    entry.kept = entry.kept.filter((each) => !isLost(each));
    for (const { input } of lost) input.answer.reject(contended(runId, entry.obstacle.error));
  }

  #nextWait(runId: RunId): number {
    const last = this.#waits.get(runId);
    if (last === undefined || this.#parts.steady() - last.at > MEMORY_MS) return WAIT_MIN_MS;
    return Math.min(WAIT_MAX_MS, last.ms * 2);
  }
}

/** Whether the input is an executor's report about its claim. Without it the node would be stuck. */
const isKept = (input: Input): boolean => input.kind === "outcome" || isFenced(input);

/** The error for a sender that may repeat its input. */
export const contended = (runId: RunId, cause: unknown): EngineError =>
  new EngineError(
    "RUN_CONTENDED",
    `Run ${runId} cannot be changed now: other sessions of the database hold it, or wrote it first. Nothing was changed; try again shortly.`,
    { retryAfterMs: 1_000, metadata: { run_id: runId }, cause },
  );

/** A result that an executor reported and that the store does not hold yet. */
export interface UnsettledResult {
  readonly claim: Claim;
  /** Why the store does not hold it. */
  readonly reason: string;
}

/** The results of a run among inputs that wait because of an error. */
export function unsettledResults(
  runId: RunId,
  inputs: Iterable<Input>,
  error: unknown,
): UnsettledResult[] {
  const reason = error instanceof EngineError ? error.message : contended(runId, error).message;
  return [...inputs].flatMap((input) =>
    input.kind === "outcome" && runOf(input) === runId ? [{ claim: input.claim, reason }] : [],
  );
}
