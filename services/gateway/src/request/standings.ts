// Asks schedulers for facts that only their memory holds: whether their commits succeed, and which results they could not store yet. The
// gateway asks every scheduler whose address it knows. If one name resolves to many schedulers, the calls take turns and reach the first
// few. A scheduler that does not answer in time, or does not know the question, is left out.

import type { UnstoredResult } from "@pawl/core/explain/room";
import type { RunId } from "@pawl/core/name/ids";
import { createGrpcClient } from "@pawl/platform/rpc/grpc-client";
import { StandingService } from "@pawl/proto/pawl/command/v1/command_service_pb";

/** The smallest number of calls for one question. */
const CALLS_MIN = 4;
const ASK_MS = 1_000;

/**
 * A client of all schedulers. It connects when the gateway asks for the first time. `address` is host:port, a list of them with commas, or a
 * gRPC target.
 */
export function connectStandings(address: string) {
  const clients = address.split(",").map((each) => createGrpcClient(StandingService, each.trim()));
  const rounds = Math.ceil(CALLS_MIN / clients.length);
  const called = Array.from({ length: rounds }, () => clients).flat();
  /** The answer of each scheduler. If `runId` is given, it contains the results of that run. */
  const ask = async (runId = "") => {
    const answers = await Promise.allSettled(
      called.map(({ call }) => call.getStanding({ runId }, { timeoutMs: ASK_MS })),
    );
    return answers.flatMap((one) => (one.status === "fulfilled" ? [one.value] : []));
  };
  return {
    ask,
    /** Results of a run that executors reported and no scheduler could store yet. No table holds them. */
    unstoredResults: async (runId: RunId): Promise<UnstoredResult[]> =>
      (await ask(runId)).flatMap(({ unsettledResults }) =>
        unsettledResults.map(({ nodeId, iteration, epoch, reason }) => ({
          ...{ nodeId, iteration, reason },
          epoch: Number(epoch),
        })),
      ),
    close: () => {
      for (const client of clients) client.close();
    },
  };
}
