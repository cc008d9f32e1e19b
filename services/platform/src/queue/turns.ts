// Who goes next among jobs of one type and priority: one of each share in turn, so that a workflow with fifty thousand jobs does not
// keep one with ten waiting. pg-boss takes the highest priority first and knows no shares (its groups only leave jobs out), so the
// turn is written into the priority: a share's jobs get consecutive turns, beginning at the turn that is served now. The order is
// then the index's, and taking a job costs the same however many wait.
//
// Every scheduler counts turns by itself and learns the turn that is served from what it takes and from its look at the queues. Two
// that differ for a moment give one share a better place, never a better priority; nothing is lost by it.

/** Turns within one priority; those beyond share the last one and go in order of arrival. */
const TURNS = 1_000_000;
/** Shares remembered of one type; beyond that the ones whose turn has passed are forgotten first, then all. */
const SHARES_MAX = 10_000;

interface Line {
  /** The turn that is served now. */
  served: number;
  /** The last turn each share has taken. */
  readonly last: Map<string, number>;
}

export class Turns {
  readonly #lines = new Map<string, Map<number, Line>>();

  /** The rank of a new job: lower goes first, and none is better than any of a better priority. */
  rankOf(job: {
    readonly nodeType: string;
    readonly priority: number;
    readonly share?: string;
  }): number {
    const { nodeType, priority, share = "" } = job;
    const { last, served } = this.#line(nodeType, priority);
    const own = last.get(share);
    const turn = Math.min(TURNS - 1, Math.max(served, own === undefined ? 0 : own + 1));
    if (last.size >= SHARES_MAX) forget(last, served);
    last.set(share, turn);
    return priority * TURNS + turn;
  }

  /** A job of this rank is served. */
  served(nodeType: string, rank: number): void {
    const priority = Math.floor(rank / TURNS);
    const line = this.#line(nodeType, priority);
    line.served = Math.max(line.served, rank - priority * TURNS);
  }

  /** Nothing of this type waits: turns begin anew. */
  emptied(nodeType: string): void {
    this.#lines.delete(nodeType);
  }

  #line(nodeType: string, priority: number): Line {
    let lines = this.#lines.get(nodeType);
    if (lines === undefined) this.#lines.set(nodeType, (lines = new Map()));
    let line = lines.get(priority);
    if (line === undefined) lines.set(priority, (line = { served: 0, last: new Map() }));
    return line;
  }
}

/** The ranks of one priority: from the first, and below the second. */
export const ranksOf = (priority: number): readonly [number, number] => [
  priority * TURNS,
  (priority + 1) * TURNS,
];

function forget(last: Map<string, number>, served: number): void {
  for (const [share, turn] of last) if (turn < served) last.delete(share);
  if (last.size >= SHARES_MAX) last.clear();
}
