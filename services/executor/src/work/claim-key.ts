// A task as one string, to look it up by and to name jobs in events.

import type { Claim } from "@pawl/proto/pawl/worker/v1/worker_service_pb";

/** True for a claim that is still being committed; it ends with the connection it came on. */
export const isOffer = ({ offer }: Claim): boolean => offer !== 0n;

/**
 * run/node/iteration/epoch: unique for every claim there ever was. An offer has its number behind it, since one that is withdrawn
 * may be followed by a claim, or by another offer, of the same epoch.
 */
export function claimKey(claim: Claim): string {
  const key = `${claim.runId}/${claim.nodeId}/${claim.iteration}/${claim.epoch}`;
  return isOffer(claim) ? `${key}#${claim.offer}` : key;
}
