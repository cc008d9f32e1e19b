// Results that executors reported and that no scheduler could store yet. They are in no table, so the schedulers are asked; one that does
// not answer in time says nothing.

import type { UnstoredResult } from "@pawl/core/explain/room";
import type { RunId } from "@pawl/core/name/ids";
import type { Scheduler } from "../request/forward.ts";

export const unstoredResultsOf =
  ({ standings }: Pick<Scheduler, "standings">) =>
  async (runId: RunId): Promise<UnstoredResult[]> => {
    const answers = await standings.ask(runId);
    return answers.flatMap(({ unsettledResults }) =>
      unsettledResults.map(({ nodeId, iteration, epoch, reason }) => ({
        nodeId,
        iteration,
        epoch: Number(epoch),
        reason,
      })),
    );
  };
