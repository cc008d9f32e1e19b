// The attempts of one session, by node execution: the claim and the ledger of each, and whether the process may have seen it. An attempt
// begins before its invocation (templates, moderation of the input) and ends after it (moderation of the output).
//
// The race it survives: a claim is lost, and the same work is assigned again before the first attempt has ended. The newer attempt takes
// the place of the older one, which is aborted and invokes nothing more.

import type { EffectDoor } from "@pawl/core/handler/served";
import type { Assignment, Claim } from "@pawl/proto/pawl/worker/v1/worker_service_pb";
import type { RunAttempt } from "../run/run-attempt.ts";

type Execution = Pick<Claim, "runId" | "nodeId" | "iteration">;

interface Attempt {
  readonly claim: Claim;
  readonly door: EffectDoor;
  /** Whether a stream got its Invoke. */
  isWritten: boolean;
}

const keyOf = ({ runId, nodeId, iteration }: Execution): string =>
  `${runId}/${nodeId}/${iteration}`;

export class Attempts {
  readonly #attempts = new Map<string, Attempt>();

  /** Runs attempts with `run` and knows them meanwhile. */
  watch(run: RunAttempt): RunAttempt {
    return async (assignment: Assignment, hooks) => {
      const { claim } = assignment;
      // The worker runs no assignment without a claim.
      if (claim === undefined) return await run(assignment, hooks);
      const key = keyOf(claim);
      const attempt: Attempt = { claim, door: hooks.effects, isWritten: false };
      this.#attempts.set(key, attempt);
      try {
        return await run(assignment, hooks);
      } finally {
        if (this.#attempts.get(key) === attempt) this.#attempts.delete(key);
      }
    };
  }

  find(execution: Execution): Attempt | undefined {
    return this.#attempts.get(keyOf(execution));
  }

  /** Whether the process cannot have seen the work of this claim. */
  readonly isUnseen = (claim: Claim): boolean => {
    const attempt = this.find(claim);
    return attempt?.claim === claim && !attempt.isWritten;
  };
}
