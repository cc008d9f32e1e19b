// How an executor leaves. It takes no more tasks and lets running attempts finish within the grace period. Then it aborts the rest and
// gives their claims back. It waits until its outcomes are acknowledged, and disconnects. Leaving acknowledges nothing: each claim is
// reported, released, or left to its lease. Every step is bounded, so a scheduler that is gone cannot hold the process.

import { probe } from "@pawl/platform/lifecycle/probe";
import type { Assignments } from "./assignments.ts";
import type { Outbox } from "./outbox.ts";
import type { WorkerItemInit } from "./fenced-writer.ts";
import type { Session } from "./session.ts";
import type { Capacity } from "./capacity.ts";
import { within } from "./within.ts";

/** How long the executor waits for acknowledgements after the last attempt has ended. */
export const SETTLE_MS = 2_000;
/** How long aborted handlers may take to end. */
const ABORT_MS = 1_000;

export interface DrainParts {
  readonly capacity: Capacity;
  readonly assignments: Assignments;
  readonly outbox: Outbox;
  readonly session: Session;
  readonly register: () => WorkerItemInit;
}

export interface DrainBounds {
  readonly graceMs: number;
  readonly settleMs: number;
}

/** Drains and closes; settles within the grace period and a few seconds. */
export async function drain(parts: DrainParts, bounds: DrainBounds): Promise<void> {
  const { capacity, assignments, outbox, session } = parts;
  capacity.close();
  probe("executor.drain-begun");
  // Register with no slots, so that the scheduler sends no more. Assignments already on their way are released on arrival.
  if (session.isRegistered) outbox.control(parts.register());
  await within(capacity.idle(), bounds.graceMs);
  assignments.releaseAll();
  await within(capacity.idle(), ABORT_MS);
  await within(outbox.empty(), bounds.settleMs);
  await session.stop({ item: { case: "goodbye", value: {} } });
}
