// What this scheduler assumes about the queues: which may hold a ready job, and when delayed jobs are due. A wrong assumption costs an
// empty fetch, or a node waits for the next survey of the queues. Due times are in steady time, so a change of the clock delays no job.

/** Due times kept per type. The survey of the queues finds later ones. */
const DUE_TIMES_MAX = 10_000;
/** The key of rate slots among the node types. No node type is empty. */
const RATE_SLOTS = "";

export class Waiting {
  readonly #steady: () => number;
  /** Types whose queue may hold a job that is ready. */
  readonly #ready = new Set<string>();
  /** Due times of delayed jobs per type, in ascending order. */
  readonly #due = new Map<string, number[]>();

  constructor(steady: () => number) {
    this.#steady = steady;
  }

  /** A job of this type is in the queue. It is ready after this many milliseconds. */
  enqueued(nodeType: string, inMs = 0): void {
    if (inMs <= 0) {
      this.#ready.add(nodeType);
      return;
    }
    const readyAt = this.#steady() + inMs;
    let times = this.#due.get(nodeType);
    if (times === undefined) this.#due.set(nodeType, (times = []));
    const at = insertionPoint(times, readyAt);
    if (times[at] !== readyAt) times.splice(at, 0, readyAt);
    if (times.length > DUE_TIMES_MAX) times.pop();
  }

  /** A fetch got fewer jobs than it asked for, so no job of this type is ready now. */
  emptied(nodeType: string): void {
    this.#ready.delete(nodeType);
  }

  /** Whether the queue of this type may hold a ready job. */
  mayWait(nodeType: string): boolean {
    this.#ripen();
    return this.#ready.has(nodeType);
  }

  /** Types whose queue may hold a ready job. */
  get types(): string[] {
    this.#ripen();
    return [...this.#ready].filter((type) => type !== RATE_SLOTS);
  }

  /** An execution waits for a slot of a rate. The slot becomes free after this many milliseconds. */
  rateSlotFrees(inMs: number): void {
    this.enqueued(RATE_SLOTS, inMs);
  }

  /** The tick has granted the slots of rates that were free. */
  rateSlotsGiven(): void {
    this.emptied(RATE_SLOTS);
  }

  /** Whether a slot of a rate may be free while an execution waits for it. */
  get mayRateSlotBeFree(): boolean {
    return this.mayWait(RATE_SLOTS);
  }

  /** The milliseconds until the next delayed job is due. Undefined if no delayed job is known. */
  get nextDueInMs(): number | undefined {
    let next: number | undefined;
    for (const [first] of this.#due.values())
      if (first !== undefined && (next === undefined || first < next)) next = first;
    return next === undefined ? undefined : next - this.#steady();
  }

  #ripen(): void {
    const now = this.#steady();
    for (const [type, times] of this.#due) {
      const at = insertionPoint(times, now);
      const passed = times[at] === now ? at + 1 : at;
      if (passed === 0) continue;
      times.splice(0, passed);
      if (times.length === 0) this.#due.delete(type);
      this.#ready.add(type);
    }
  }
}

/** Index of the first element that is not below `value`. */
function insertionPoint(sorted: readonly number[], value: number): number {
  let low = 0;
  let high = sorted.length;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if ((sorted[middle] ?? 0) < value) low = middle + 1;
    else high = middle;
  }
  return low;
}
