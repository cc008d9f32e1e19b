// An error in the form of the console: the fault, the machine-readable reason, and the next step.

import { pawlErrorFrom, type PawlReason, type Violation } from "@pawl/client";

export interface Fault {
  /** The name in the API, in UPPER_SNAKE. */
  readonly reason: string;
  readonly message: string;
  readonly next: string;
  /** Every broken rule, when there is a list of them. */
  readonly violations: readonly Violation[];
  /** Whether another try may succeed. */
  readonly retryable: boolean;
}

/** Advice that differs from other clients. For all other reasons the server gives the advice. */
const NEXT: Partial<Record<PawlReason, string>> = {
  STORE_UNAVAILABLE: "No data is lost. Check that PostgreSQL runs; this page reconnects by itself.",
  DRAINING: "The gateway is stopping; this page reconnects when it is back.",
  FORBIDDEN: "Open the console by the address that the gateway serves.",
  UNREACHABLE: "Check that the gateway runs; this page reconnects by itself when it is back.",
};

const ELSE = "Try again. If it stays, look in the gateway's log.";

export function readFault(thrown: unknown): Fault {
  const error = pawlErrorFrom(thrown);
  const { reason, retryable } = error;
  const message = reason === "UNREACHABLE" ? "The gateway does not answer." : error.message;
  const { violations } = error;
  return { reason, message, next: NEXT[reason] ?? error.next ?? ELSE, violations, retryable };
}

export const violationText = ({ path, message }: Violation): string =>
  path === "" ? message : `${path}: ${message}`;
