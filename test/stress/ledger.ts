// The messages of a peer about each claim, and their answers: the scheduler owes one answer to every outcome and every repeat.
import type { Claim } from "@pawl/proto/pawl/worker/v1/worker_service_pb";

/** A claim and how its task ends. */
export type Task = {
  readonly claim: Claim;
  readonly fails: boolean;
  /** The node that it leads to by a goto. */
  readonly target?: string;
};

type Entry = { said: number; answered: number; readonly task: Task; readonly isEcho: boolean };

const refusedOf = ({ answered, isEcho }: Entry): number =>
  isEcho ? answered : Math.max(0, answered - 1);

const keyOf = ({ runId, nodeId, iteration, epoch }: Claim): string =>
  `${runId}/${nodeId}/${iteration}/${epoch}`;

/** The accounts of one peer. */
export class Ledger {
  readonly #entries = new Map<string, Entry>();

  /** The peer sends an outcome of a task: its own, or as an echo of another peer's. */
  say(task: Task, isEcho: boolean): void {
    const key = keyOf(task.claim);
    const entry = this.#entries.get(key) ?? { said: 0, answered: 0, task, isEcho };
    entry.said += 1;
    this.#entries.set(key, entry);
  }

  /** Takes an answer; gives the peer's own task when it is the first one about it. */
  hear(claim: Claim | undefined): Task | undefined {
    const entry = claim && this.#entries.get(keyOf(claim));
    // The scheduler also answers a renewal that names a claim just settled; that is no answer to an outcome.
    if (entry === undefined || entry.answered === entry.said) return undefined;
    entry.answered += 1;
    return entry.answered === 1 && !entry.isEcho ? entry.task : undefined;
  }

  /** Own claims without any answer yet. */
  held(): Claim[] {
    return [...this.#entries.values()].flatMap(({ answered, isEcho, task }) =>
      answered === 0 && !isEcho ? [task.claim] : [],
    );
  }

  /** Answers still owed. */
  unanswered(): number {
    return this.#sum((entry) => entry.said - entry.answered);
  }

  /** Answered repeats of one run: all but the first outcome of each own task. */
  refused(runId: string): number {
    return this.#sum((entry) => (entry.task.claim.runId === runId ? refusedOf(entry) : 0));
  }

  /** The same of all runs. */
  refusedCount(): number {
    return this.#sum(refusedOf);
  }

  #sum(of: (entry: Entry) => number): number {
    return this.#entries.values().reduce((total, entry) => total + of(entry), 0);
  }
}
