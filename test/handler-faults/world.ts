// What the fault test runs on: the real services, a receiver, and lanes. A lane is two handler processes that serve node types of their own, so
// a fault in one lane strikes one run only.
import { createPawlClient, type PawlClient } from "@pawl/client";
import { freePort } from "@pawl/deploy/ports.ts";
import { startCluster } from "../support/cluster.ts";
import type { Member } from "../support/member.ts";
import { startHandlerProcess, type HandlerProcess, type Program } from "./handler-process.ts";
import { startReceiver, type Receiver } from "./receiver.ts";

/** Short, so that a trial passes every limit in seconds; long enough for a process that runs on a busy machine. */
export const TIMES = { leaseMs: 3_000, silenceMs: 2_000, resumeMs: 1_500, stallMs: 3_000 } as const;

export type Lane = { readonly name: string; readonly processes: readonly HandlerProcess[] };

export type World = {
  readonly client: PawlClient;
  readonly executor: Member;
  readonly receiver: Receiver;
  readonly lanes: readonly Lane[];
  readonly databaseUrl: string;
  logs(): string;
  stop(): Promise<void>;
};

/** Starts everything. Without `databaseUrl` the test run's own server gives a database. */
export async function startWorld(options: {
  readonly program: Program;
  readonly lanes: number;
  readonly databaseUrl?: string;
}): Promise<World> {
  const handlerPort = await freePort();
  const { databaseUrl } = options;
  const cluster = await startCluster({
    ...(databaseUrl === undefined ? {} : { databaseUrl }),
    env: { PAWL_LEASE_MS: String(TIMES.leaseMs), PAWL_RENEW_MS: "1000", PAWL_LOG_LEVEL: "info" },
    envOf: {
      executor: {
        PAWL_HANDLER_PORT: String(handlerPort),
        PAWL_HANDLER_SILENCE_MS: String(TIMES.silenceMs),
        PAWL_HANDLER_RESUME_MS: String(TIMES.resumeMs),
      },
    },
  });
  const receiver = await startReceiver();
  const lanes = await Promise.all(
    Array.from({ length: options.lanes }, async (_, at): Promise<Lane> => {
      const name = String(at);
      const { program } = options;
      const own = {
        FAULT_LANE: name,
        FAULT_RECEIVER: receiver.url,
        FAULT_STALL_SECONDS: String(TIMES.stallMs / 1_000),
      };
      const start = (half: string): Promise<HandlerProcess> =>
        startHandlerProcess(
          name + half,
          { ...program, env: { ...program.env, ...own } },
          handlerPort,
        );
      return { name, processes: await Promise.all([start("a"), start("b")]) };
    }),
  );
  const processes = lanes.flatMap((lane) => lane.processes);
  const [executor] = cluster.executors;
  if (executor === undefined) throw new Error("the cluster has no executor");
  const client = createPawlClient({ baseUrl: cluster.url });
  return {
    ...{ client, executor, receiver, lanes, databaseUrl: cluster.databaseUrl },
    logs: () =>
      [cluster.logs(), ...processes.map((one) => `--- handlers ${one.name}\n${one.logs()}`)].join(
        "\n",
      ),
    stop: async () => {
      client.close();
      await Promise.all(processes.map((process) => process.stop()));
      await receiver.stop();
      await cluster.stop();
    },
  };
}
