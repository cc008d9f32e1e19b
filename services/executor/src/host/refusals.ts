// The node types of a session that are not served. The host refuses some itself, permanently. The scheduler refuses others until it
// registers the session without a refusal.

import type { RefusedType } from "./hello.ts";

export class Refusals {
  readonly #own: readonly RefusedType[];
  #ofScheduler: readonly RefusedType[] = [];

  constructor(own: readonly RefusedType[]) {
    this.#own = own;
  }

  get all(): readonly RefusedType[] {
    return [...this.#own, ...this.#ofScheduler];
  }

  /** Takes the refusals of a Registered. Returns those that the process does not know yet. */
  adopt(refused: readonly RefusedType[]): readonly RefusedType[] {
    const known = this.#ofScheduler;
    this.#ofScheduler = refused.map(({ type, reason, message }) => ({ type, reason, message }));
    return this.#ofScheduler.filter(({ type, reason }) =>
      known.every((each) => each.type !== type || each.reason !== reason),
    );
  }

  has(type: string): boolean {
    return this.all.some((each) => each.type === type);
  }
}
