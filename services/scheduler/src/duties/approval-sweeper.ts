// Ends approvals whose deadline has passed. The store's clock says which; the sweeper is armed for the next one, by what it finds and
// by whoever opens a new one here, so a deadline costs nothing until it passes. What another scheduler opened and did not live to
// see, the interval finds.

import type { SweepParts } from "./sweeps.ts";
import { Sweeper } from "./sweeper.ts";

/** Found per sweep; a full batch sweeps again at once. */
const FOUND_MAX = 500;

/** `slackMs`: after so much more by our clock, a time has passed by the store's. */
export function approvalSweeper(parts: SweepParts, intervalMs: number, slackMs: number): Sweeper {
  const sweeper: Sweeper = new Sweeper({
    name: "approvals",
    intervalMs,
    log: parts.log,
    duty: () =>
      sweepApprovals(parts, (afterMs) => {
        // What is later, a later sweep asks for: only what is near needs an hour of its own.
        if (afterMs <= intervalMs) sweeper.soon(afterMs + slackMs);
      }),
  });
  return sweeper;
}

/** `soon` is told when the next one will be due. */
async function sweepApprovals(
  { journal, loop }: SweepParts,
  soon: (afterMs: number) => void,
): Promise<boolean> {
  const found = await journal.dueApprovals(FOUND_MAX);
  const due = found.filter(({ dueInMs }) => dueInMs <= 0);
  await Promise.all(
    due.map(async ({ dueInMs: _dueInMs, ...approval }) => {
      const { promise, resolve, reject } = Promise.withResolvers<void>();
      loop.submit({ kind: "due", ...approval, answer: { resolve, reject } });
      await promise;
    }),
  );
  const next = found[due.length];
  if (next !== undefined) soon(next.dueInMs);
  return due.length === FOUND_MAX;
}
