// A claim as one string, to look tasks up by and to name jobs in events.

import type { Claim } from "@pawl/proto/pawl/worker/v1/worker_service_pb";

/** run/node/iteration/epoch: unique for every claim there ever was. */
export const claimKey = (claim: Claim): string =>
  `${claim.runId}/${claim.nodeId}/${claim.iteration}/${claim.epoch}`;
