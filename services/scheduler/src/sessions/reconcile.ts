// Compares the claims that an executor names with its leases. The scheduler answers ClaimLost to a claim without a lease: a later claim
// replaced it, or it belongs to another executor. A lease that the executor does not name was assigned by a message that never arrived. The
// scheduler takes it back. On a new stream it does so at once, because no message of the old stream can arrive. On an open stream it waits
// for a grace, because the message may still arrive.

import type { Executors } from "@pawl/platform/store/leases/leases";
import type { Logger } from "@pawl/platform/telemetry/log";
import type { Claim } from "../inputs/input.ts";
import type { TickLoop } from "../tick/loop.ts";
import type { Session } from "./session.ts";
import { fence } from "./fence.ts";
import { claimItem } from "./wire.ts";

/** The assignment of a younger lease may still be on its way to a busy executor. */
export const ASSIGNMENT_GRACE_MS = 3_000;

interface ReconcileParts {
  readonly executors: Executors;
  readonly loop: TickLoop;
  readonly log: Logger;
}

const keyOf = ({ runId, nodeId, iteration, epoch }: Claim): string =>
  `${runId}/${nodeId}/${iteration}/${epoch}`;

const isHeld = (session: Session, { runId, nodeId, iteration }: Claim): boolean =>
  session.claimOn(runId, nodeId, iteration) !== undefined;

export async function reconcile(
  { executors, loop, log }: ReconcileParts,
  session: Session,
  { held, graceMs }: { readonly held: readonly Claim[]; readonly graceMs: number },
): Promise<void> {
  const { executorId } = session;
  const isKnown = held.map((claim) => isHeld(session, claim));
  const leases = await executors.leasesOf(executorId, 0);
  const leased = new Set(leases.map(keyOf));
  const unknown: Claim[] = [];
  for (const [at, claim] of held.entries()) {
    if (leased.has(keyOf(claim))) continue;
    if (isKnown[at] !== true) unknown.push(claim);
    // The executor has reported the claim meanwhile. The tick settles or refuses it.
    else if (isHeld(session, claim)) fence(log, session, claim);
  }
  if (unknown.length > 0) {
    // The claim belongs to another executor, or the tick under way has its outcome. The answer of that tick goes first.
    await loop.afterTick();
    for (const claim of unknown) session.send(claimItem("claimLost", claim));
  }
  const heldKeys = new Set(held.map(keyOf));
  if (leases.every((lease) => heldKeys.has(keyOf(lease)))) return;
  for (const lease of await executors.leasesOf(executorId, graceMs)) {
    if (heldKeys.has(keyOf(lease)) || session.isOnItsWay(lease, graceMs)) continue;
    session.letGo(lease);
    const about = { claim: lease, reason: "not_held", executorId } as const;
    loop
      .ask((answer) => ({ kind: "lost", ...about, answer }))
      .catch((error) => log.warn({ err: error }, "a lease was not taken back"));
  }
}
