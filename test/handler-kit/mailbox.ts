// Things that arrive from the process, and waits for one of them. A wait ends with the thing, or with a BrokenRule that says what came instead.

import { BrokenRule, textOf } from "./broken-rule.ts";

const SHOWN = 8;

export class Mailbox<Thing> {
  /** Long enough for a busy machine; what must come fast has a time of its own. Tests of the kit itself shorten it. */
  static patienceMs = 10_000;
  readonly things: Thing[] = [];
  readonly #waiting = new Set<() => void>();
  /** Called before the waits look. */
  onAdd: () => void = () => undefined;

  add(thing: Thing): void {
    this.things.push(thing);
    this.onAdd();
    this.changed();
  }

  /** Every wait looks again. */
  changed(): void {
    for (const look of this.#waiting) look();
  }

  /** The first of all things, earlier ones too, for which `pick` gives a value. `pick` may throw a BrokenRule. */
  async find<Found>(
    pick: (thing: Thing) => Found | undefined,
    expected: string,
    withinMs: number = Mailbox.patienceMs,
  ): Promise<Found> {
    return await this.until(
      () => {
        for (const thing of this.things) {
          const found = pick(thing);
          if (found !== undefined) return found;
        }
        return undefined;
      },
      expected,
      withinMs,
    );
  }

  /** The first value that `look` gives. */
  async until<Found>(
    look: () => Found | undefined,
    expected: string,
    withinMs: number = Mailbox.patienceMs,
  ): Promise<Found> {
    const { promise, resolve, reject } = Promise.withResolvers<Found>();
    const attempt = (): void => {
      try {
        const found = look();
        if (found !== undefined) resolve(found);
      } catch (error) {
        reject(error);
      }
    };
    const timer = setTimeout(() => {
      const came = this.things.slice(-SHOWN).map(textOf).join(" ") || "nothing";
      reject(new BrokenRule(`${expected} within ${withinMs} ms`, came));
    }, withinMs);
    this.#waiting.add(attempt);
    attempt();
    try {
      return await promise;
    } finally {
      clearTimeout(timer);
      this.#waiting.delete(attempt);
    }
  }
}
