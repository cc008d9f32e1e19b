// The classes of failures: what Pawl promises after each kind of failure, in one closed list. `cause.ts` gives every cause its class. The words
// are those of `pawl.v1.FailureClass` in lower case.

export const FAILURE_CLASSES = {
  timeout:
    "A limit that Pawl holds passed: of an attempt, of a wait, or of the run. The results so far stay. Only the retry policy of a node can allow another attempt. A run is never retried.",
  user_timeout:
    "A limit in the code of the handler passed: its own, or one of a library. The results so far stay. Only the retry policy of the node can allow another attempt.",
  interrupt:
    "A user interrupted the run. The results so far stay, and `ResumeRun` continues from them. Nothing is retried.",
  rollback:
    "A user rolled the run back. Its results do not count for its thread, and its compensations run. Nothing is retried.",
  cancelled:
    "A user or another node cancelled the work. The results so far stay. Nothing is retried.",
  retriable:
    "The same work may succeed later. While the retry policy allows it, the node returns to its queue and is not settled. Otherwise it has failed, with its details.",
  permanent:
    "The same work would fail again. Nothing is retried. The details and the results so far stay.",
} as const satisfies Record<string, string>;

export type FailureClass = keyof typeof FAILURE_CLASSES;
