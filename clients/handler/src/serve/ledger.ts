// The effect ledger of one invocation, by question and answer over the session.
//
// The races it survives: a cancel may come before the answer, and then the question rejects with the reason of the signal. The host may revoke
// the invocation in its answer: that is a cancel too.

import type { EffectClass, EffectStanding } from "@pawl/core/policy/effect";
import type { EffectDoor } from "@pawl/core/handler/served";
import {
  type EffectBegun,
  EffectClass as WireClass,
  type EffectCommitted,
  EffectState,
} from "@pawl/proto/pawl/handler/v1/handler_service_pb";
import type { ItemInit } from "./session.ts";
import { bytesIn } from "./texts.ts";

const CLASSES: Readonly<Record<EffectClass, WireClass>> = {
  transactional: WireClass.TRANSACTIONAL,
  idempotent: WireClass.IDEMPOTENT,
  at_most_once: WireClass.AT_MOST_ONCE,
};

export interface LedgerOptions {
  readonly invocationId: string;
  readonly signal: AbortSignal;
  readonly send: (item: ItemInit) => void;
  /** The host revoked the invocation. */
  readonly revoke: () => void;
  /** How large the result of an effect may be. */
  readonly effectBytes: () => number;
}

type Answer = Pick<EffectBegun, "state" | "resultJson">;

export class Ledger implements EffectDoor {
  readonly #options: LedgerOptions;
  readonly #begins = new Map<string, (answer: Answer) => void>();
  readonly #commits = new Map<string, (answer: Answer) => void>();

  constructor(options: LedgerOptions) {
    this.#options = options;
  }

  async begin(name: string, effectClass: EffectClass): Promise<EffectStanding> {
    const { invocationId } = this.#options;
    const { state, resultJson } = await this.#ask(this.#begins, name, {
      item: {
        case: "effectBegin",
        value: { invocationId, name, effectClass: CLASSES[effectClass] },
      },
    });
    if (state === EffectState.COMMITTED)
      return { state: "committed", resultJson: resultJson || "null" };
    return { state: state === EffectState.NEW ? "new" : "begun_before" };
  }

  /** Drops a result that the ledger cannot store: the effect then stays begun. */
  async commit(name: string, resultJson: string): Promise<void> {
    const { invocationId, effectBytes } = this.#options;
    if (bytesIn(resultJson) > effectBytes()) return;
    await this.#ask(this.#commits, name, {
      item: { case: "effectCommit", value: { invocationId, name, resultJson } },
    });
  }

  begun({ name, state, resultJson }: EffectBegun): void {
    this.#answer(this.#begins, name, { state, resultJson });
  }

  committed({ name, state }: EffectCommitted): void {
    this.#answer(this.#commits, name, { state, resultJson: "" });
  }

  async #ask(open: Map<string, (answer: Answer) => void>, name: string, item: ItemInit) {
    const { signal, send } = this.#options;
    signal.throwIfAborted();
    if (open.has(name))
      throw new Error(`the effect ${name} is under way already; use each name once`);
    const { promise, resolve, reject } = Promise.withResolvers<Answer>();
    const onAbort = (): void => reject(signal.reason);
    signal.addEventListener("abort", onAbort, { once: true });
    open.set(name, resolve);
    send(item);
    try {
      const answer = await promise;
      // The signal may have fired after the answer and before this line.
      signal.throwIfAborted();
      if (answer.state === EffectState.REFUSED)
        throw new Error(
          `the ledger refused the effect ${name}: use a name of at most 128 of A-Z a-z 0-9 . _ - once in an invocation`,
        );
      return answer;
    } finally {
      open.delete(name);
      signal.removeEventListener("abort", onAbort);
    }
  }

  #answer(open: Map<string, (answer: Answer) => void>, name: string, answer: Answer): void {
    if (answer.state === EffectState.REVOKED) this.#options.revoke();
    else open.get(name)?.(answer);
  }
}
