// The statements of a tick, in their order.

import type { RunId } from "@pawl/core/name/ids";
import { probe } from "@pawl/platform/lifecycle/probe";
import { GLUE, PENDING_RUNS } from "@pawl/platform/queue/queue";
import type { News, Transaction } from "@pawl/platform/store/tick/journal";
import { followAll, hasFollowers } from "../decide/follow-all.ts";
import { beginPending, claimWaiting, completeWaiting } from "../decide/claim.ts";
import type { Draft } from "../commit/draft.ts";
import { place } from "../hand-off/place.ts";
import { moveSlots } from "../commit/slots.ts";
import type { TickParts } from "./tick.ts";
import type { Waiting } from "../commit/waiting.ts";
import { news, write } from "../commit/write.ts";

interface Sending {
  readonly draft: Draft;
  /** The draft of the jobs that come out of the queues. */
  readonly claims: Draft;
  /** The queues to look into. */
  readonly claimable: readonly string[];
  /** How many jobs to take out of each. */
  readonly claimMax: number;
}

interface Sent {
  /** The last seqs of the draft that was written last. The commit is sent before they arrive. */
  readonly lastSeqs: Promise<ReadonlyMap<RunId, number>>;
  readonly claimed: Draft | undefined;
}

/**
 * Sends every statement without waiting, unless it claims jobs: the fetched jobs decide the next statements. If it claims nothing and
 * changes no slot, everything is sent when the call returns.
 */
export async function send(parts: TickParts, tx: Transaction, sending: Sending): Promise<Sent> {
  const { draft, claims, claimable, claimMax } = sending;
  const drafted = write(tx, draft);
  if (claimable.length === 0) {
    if (hasGates(parts.waiting, draft, claims)) await settleGates(parts, tx, sending);
    announce(tx, news(draft));
    return { lastSeqs: drafted, claimed: undefined };
  }
  draft.settleSeqs(await drafted);
  for (const type of claimable)
    if (type === PENDING_RUNS) await beginPending(parts, tx, { draft, claims, claimMax });
    else if (type === GLUE) await completeWaiting(parts, tx, { draft, claims, claimMax });
    else await claimWaiting(parts, tx, { draft, claims, claimMax, type });
  if (hasFollowers(claims)) {
    await followAll(parts, claims, draft);
    place(claims, parts);
  }
  const lastSeqs = write(tx, claims);
  if (hasGates(parts.waiting, draft, claims)) await settleGates(parts, tx, sending);
  announce(tx, [...news(draft), ...news(claims)]);
  return { lastSeqs, claimed: claims };
}

/** Whether slots may change. Runs without limits cost nothing here. */
export const hasGates = (waiting: Waiting, draft: Draft, claims: Draft): boolean =>
  !draft.slots.isEmpty || !claims.slots.isEmpty || waiting.mayRateSlotBeFree;

async function settleGates(
  { waiting }: TickParts,
  tx: Transaction,
  { draft, claims }: Sending,
): Promise<void> {
  await moveSlots(tx, { draft: draft.slots, claims: claims.slots }, waiting);
}

/** Notifies readers. This is the last statement of a tick. */
function announce(tx: Transaction, told: readonly News[]): void {
  void tx.wake(told);
  if (told.some(({ ended }) => ended)) probe("tick.before-commit-of-end");
  probe("tick.before-commit");
}
