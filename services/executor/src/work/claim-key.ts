// A claim as one string: a key for maps, and the name of a job in events.

import type { Claim } from "@pawl/proto/pawl/worker/v1/worker_service_pb";

/** run/node/iteration/epoch: unique for every claim. */
export const claimKey = ({ runId, nodeId, iteration, epoch }: Claim): string =>
  `${runId}/${nodeId}/${iteration}/${epoch}`;
