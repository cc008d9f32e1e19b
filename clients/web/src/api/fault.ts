// Turns whatever went wrong into what a person needs: what happened, the machine-readable reason, and what to do next.

import { pawlErrorFrom } from "@pawl/client";
import type { PawlReason, Violation } from "@pawl/client";

export interface Fault {
  /** UPPER_SNAKE, as the API names it. */
  readonly reason: string;
  readonly message: string;
  readonly next: string;
  /** Every broken rule, when there is a list of them. */
  readonly violations: readonly Violation[];
  /** Whether trying again by itself may help. */
  readonly retryable: boolean;
}

const NEXT: Partial<Record<PawlReason, string>> = {
  DEFINITION_INVALID: "Correct the definition and save it again.",
  CYCLE_DETECTED: "Take one edge out of the cycle and save the definition again.",
  INPUT_INVALID: "Correct the input and try again.",
  WORKFLOW_NOT_FOUND: "See the list of workflows; it may have been deleted.",
  RUN_NOT_FOUND: "Check the id, or see the list of runs; a test run may have been deleted.",
  APPROVAL_NOT_FOUND: "See the list of approvals; its run may have been deleted.",
  APPROVAL_CLOSED: "Nothing is left to do: nobody waits for this answer any more.",
  NODE_ALREADY_DECIDED: "Nothing is left to do: it was answered before.",
  RUN_ALREADY_FINISHED: "Nothing is left to do: the run has ended.",
  RUN_CONTENDED: "Try again; many writers raced for this run.",
  LIMIT_EXCEEDED: "Send less at once.",
  OVERLOADED: "Wait a moment and try again; too much work is waiting.",
  STORE_UNAVAILABLE: "Nothing is lost. Check that PostgreSQL runs; this page goes on by itself.",
  DRAINING: "The gateway is stopping; this page goes on when it is back.",
  SCHEDULER_UNAVAILABLE: "Check that a scheduler runs, then try again.",
  FORBIDDEN: "Open the console by the address the gateway was told to serve.",
  UNREACHABLE: "Check that the gateway runs; this page goes on by itself when it is back.",
};

const ELSE = "Try again. If it stays, look in the gateway's log.";

/** Reads an error of any kind. */
export function readFault(thrown: unknown): Fault {
  const error = pawlErrorFrom(thrown);
  const { reason, retryable } = error;
  const message = reason === "UNREACHABLE" ? "The gateway does not answer." : error.message;
  const { violations } = error;
  return { reason, message, next: NEXT[reason] ?? ELSE, violations, retryable };
}

/** A violation in one line. */
export const violationText = ({ path, message }: Violation): string =>
  path === "" ? message : `${path}: ${message}`;
