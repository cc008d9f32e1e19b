// Asks schedulers what only their memory knows: whether their commits succeed, and which results they could not store yet. Every scheduler
// whose address is known is asked; where one name stands for many of them, calls go round and reach the first few. One that does not
// answer in time, or is older than this question, is left out.

import { createGrpcClient } from "@pawl/platform/rpc/grpc-client";
import {
  StandingService,
  type GetStandingResponse,
} from "@pawl/proto/pawl/command/v1/command_service_pb";

/** Calls that one question is made of at least. */
const CALLS_MIN = 4;
const ASK_MS = 1_000;

export interface Standings {
  /** What each scheduler says; about a run where one is named. */
  ask(runId?: string): Promise<GetStandingResponse[]>;
  close(): void;
}

/** Connects with the first question. `address` is host:port, several with commas, or a gRPC target. */
export function connectStandings(address: string): Standings {
  const clients = address
    .split(",")
    .map((each) => createGrpcClient(StandingService, each.trim(), { retry: false }));
  const rounds = Math.ceil(CALLS_MIN / clients.length);
  const called = Array.from({ length: rounds }, () => clients).flat();
  return {
    ask: async (runId = "") => {
      const answers = await Promise.allSettled(
        called.map(({ call }) => call.getStanding({ runId }, { timeoutMs: ASK_MS })),
      );
      return answers.flatMap((one) => (one.status === "fulfilled" ? [one.value] : []));
    },
    close: () => {
      for (const client of clients) client.close();
    },
  };
}
