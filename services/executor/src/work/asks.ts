// The open questions of a task to the scheduler: effects and extensions of its lease. The executor sends them again after a reconnect, and
// the ledger makes repeats harmless. If the claim is lost, all open questions are refused, so no handler waits for an answer that will not
// come.

import { EngineError } from "@pawl/core/fault/engine-error";
import type { WorkerItemInit } from "./fenced-writer.ts";

export interface Ask {
  readonly name: string;
  readonly item: WorkerItemInit;
  readonly answer: PromiseWithResolvers<unknown>;
}

export class Asks {
  /** There are few at a time, and mostly none. */
  open: readonly Ask[] = [];
  #isClosed = false;

  /** Opens a question. The same question may not be open twice. */
  add(name: string, item: WorkerItemInit): Ask {
    if (this.open.some((ask) => ask.name === name))
      throw new Error(`${name} is being asked already`);
    const ask: Ask = { name, item, answer: Promise.withResolvers() };
    // A caller need not wait for the answer, so a refusal must not become an unhandled rejection.
    ask.answer.promise.catch(() => undefined);
    if (this.#isClosed) ask.answer.reject(lost());
    else this.open = [...this.open, ask];
    return ask;
  }

  resolve(name: string, value: unknown): void {
    const ask = this.open.find((each) => each.name === name);
    this.open = this.open.filter((each) => each !== ask);
    ask?.answer.resolve(value);
  }

  /** The claim is lost. */
  close(): void {
    this.#isClosed = true;
    for (const { answer } of this.open) answer.reject(lost());
    this.open = [];
  }
}

const lost = (): EngineError =>
  new EngineError("STALE_CLAIM", "the claim ended before the scheduler answered");
