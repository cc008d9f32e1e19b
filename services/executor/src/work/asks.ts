// What a task has asked the scheduler and not been answered yet: effects and more time. Each is sent again after a reconnect; the
// ledger makes repeats harmless. When the claim goes, everything still open is refused, so no handler waits for an answer that
// will not come.

import { EngineError } from "@pawl/core/fault/engine-error";
import type { WorkerItemInit } from "./fenced-writer.ts";

export interface Ask {
  readonly item: WorkerItemInit;
  readonly answer: PromiseWithResolvers<unknown>;
}

export class Asks {
  readonly #open = new Map<string, Ask>();
  #isClosed = false;

  get open(): readonly Ask[] {
    return [...this.#open.values()];
  }

  /** Opens a question; the same one may not be open twice. */
  add(name: string, item: WorkerItemInit): Ask {
    if (this.#open.has(name)) throw new Error(`${name} is being asked already`);
    const ask: Ask = { item, answer: Promise.withResolvers() };
    // Nobody has to wait for an answer; a refusal then concerns nobody.
    ask.answer.promise.catch(() => undefined);
    if (this.#isClosed) ask.answer.reject(lost());
    else this.#open.set(name, ask);
    return ask;
  }

  isOpen(ask: Ask): boolean {
    return this.open.includes(ask);
  }

  resolve(name: string, value: unknown): void {
    const ask = this.#open.get(name);
    this.#open.delete(name);
    ask?.answer.resolve(value);
  }

  /** The claim is gone. */
  close(): void {
    this.#isClosed = true;
    for (const { answer } of this.#open.values()) answer.reject(lost());
    this.#open.clear();
  }
}

const lost = (): EngineError =>
  new EngineError("STALE_CLAIM", "the claim ended before the scheduler answered");
