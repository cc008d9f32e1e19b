// What the command says to a script when it leaves.

export const EXIT = {
  ok: 0,
  /** The run did not complete, or the definition breaks rules. */
  failed: 1,
  usage: 2,
  /** The gateway refused, failed or cannot be reached. */
  server: 3,
  /** Ctrl-C before a run that was to be waited for had ended. */
  interrupted: 130,
} as const;

export type ExitCode = (typeof EXIT)[keyof typeof EXIT];
