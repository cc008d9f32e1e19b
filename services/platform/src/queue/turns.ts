// The order among jobs of one type and priority. The shares take turns, so a workflow with fifty thousand jobs does not block a workflow
// with ten. PostgreSQL's queue library pg-boss takes the highest priority first and has no shares (its groups only leave jobs out). So the
// turn is part of the priority that pg-boss gets. The jobs of a share get consecutive turns, beginning at the turn that is served now. An
// index has this order, so taking a job costs the same for any number of waiting jobs.
//
// Every scheduler counts turns by itself. It learns which turn is served from the jobs that it takes and from its reads of the queues. If
// two schedulers differ for a moment, a share gets a better place, never a better priority.

/** Turns within one priority. Later jobs share the last turn, in order of arrival. */
const TURNS = 1_000_000;
/** Shares remembered of one type and priority. When the list is full, shares whose turn has passed are dropped first, then all. */
const SHARES_MAX = 10_000;

interface Line {
  /** The turn that is served now. */
  served: number;
  /** The last turn each share has taken. */
  readonly last: Map<string, number>;
}

export class Turns {
  readonly #lines = new Map<string, Map<number, Line>>();

  /** The rank of a new job. The lowest is taken first. A rank of a better priority is always lower. */
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

  /** No job of this type waits, so turns start again. */
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

/** The ranks of one priority: from the first number on, and below the second. */
export const ranksOf = (priority: number): readonly [number, number] => [
  priority * TURNS,
  (priority + 1) * TURNS,
];

function forget(last: Map<string, number>, served: number): void {
  for (const [share, turn] of last) if (turn < served) last.delete(share);
  if (last.size >= SHARES_MAX) last.clear();
}
