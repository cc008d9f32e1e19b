// What every pause and resumption says.

import { type MutationOptions, requestIdOf } from "./caller.ts";

/** Who pauses or resumes, and why. */
export interface PauseOptions extends MutationOptions {
  readonly by?: string | undefined;
  readonly reason?: string | undefined;
}

/** The fields that requests of pauses share. */
export const wordsOf = (options: PauseOptions) => ({
  by: options.by ?? "",
  reason: options.reason ?? "",
  requestId: requestIdOf(options),
});
