// A claim as one string, to look it up by and to name jobs in events.

import type { Claim } from "@pawl/proto/pawl/worker/v1/worker_service_pb";

/** run/node/iteration/epoch: unique for every claim. */
export const claimKey = ({ runId, nodeId, iteration, epoch }: Claim): string =>
  `${runId}/${nodeId}/${iteration}/${epoch}`;
