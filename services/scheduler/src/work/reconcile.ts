// Compares what an executor says it holds with its own leases. A claim that it names and has no lease of is answered with ClaimLost:
// it was superseded, or is the claim of another executor. An offer that is not committed yet has no lease. A lease that is not held was assigned on a message that never arrived, and is taken back: after a grace while the stream
// stands, since the message may be on its way, and at once where a new stream begins, since nothing comes on the old one any more.
// An offer that was committed and whose connection broke is such a lease too; who says that it dropped it lives, so no delivery is lost.

import type { Executors } from "@pawl/platform/store/executors";
import type { Logger } from "@pawl/platform/telemetry/log";
import type { Claim } from "../tick/input.ts";
import type { TickLoop } from "../tick/loop.ts";
import type { Session } from "./session.ts";
import { fence } from "./door.ts";
import { claimItem } from "./wire.ts";

/** Younger leases may still be on their way to an executor that is at work. */
export const ASSIGNMENT_GRACE_MS = 3_000;

interface ReconcileParts {
  readonly executors: Executors;
  readonly loop: TickLoop;
  readonly log: Logger;
}

/** What an executor says of its claims. */
interface Said {
  readonly held: readonly Claim[];
  /** Offers that it let go with its last connections. */
  readonly dropped?: readonly Claim[];
  readonly graceMs: number;
}

const keyOf = ({ runId, nodeId, iteration, epoch }: Claim): string =>
  `${runId}/${nodeId}/${iteration}/${epoch}`;

const isHeld = (session: Session, { runId, nodeId, iteration }: Claim): boolean =>
  session.claimOn(runId, nodeId, iteration) !== undefined;

export async function reconcile(
  { executors, loop, log }: ReconcileParts,
  session: Session,
  { held, dropped = [], graceMs }: Said,
): Promise<void> {
  const { executorId } = session;
  // Before anything is read: what was open then may be committed behind the reading.
  const isOpen = held.map((claim) => session.recognise(claim)?.offer?.state === "open");
  const isKnown = held.map((claim) => isHeld(session, claim));
  const leases = await executors.leasesOf(executorId, 0);
  const leased = new Set(leases.map(keyOf));
  const unknown: Claim[] = [];
  for (const [at, claim] of held.entries()) {
    if (isOpen[at] === true || leased.has(keyOf(claim))) continue;
    if (isKnown[at] !== true && claim.offer === undefined) unknown.push(claim);
    // What it has reported since is settled, or refused, by the tick.
    else if (isHeld(session, claim)) fence(log, session, claim);
  }
  if (unknown.length > 0) {
    // Of another executor, or reported before it was named: the tick under way may have its outcome, whose answer goes first.
    await loop.afterTick();
    for (const claim of unknown) session.send(claimItem("claimLost", claim));
  }
  const heldKeys = new Set(held.map(keyOf));
  if (leases.every((lease) => heldKeys.has(keyOf(lease)))) return;
  const droppedKeys = new Set(dropped.map(keyOf));
  for (const lease of await executors.leasesOf(executorId, graceMs)) {
    if (heldKeys.has(keyOf(lease)) || session.isOnItsWay(lease, graceMs)) continue;
    session.letGo(lease);
    const answer = {
      resolve: () => {},
      reject: (error: unknown) => log.warn({ err: error }, "a lease was not taken back"),
    };
    const reason = droppedKeys.has(keyOf(lease)) ? "released" : "not_held";
    loop.offer({ kind: "lost", claim: lease, reason, executorId, answer });
  }
}
