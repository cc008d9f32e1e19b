// Two trios on one database, each with a peer that repeats and reorders its outcomes. When one peer settles a task, the other sends the
// opposite.
import { rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { createPawlClient, type PawlClient } from "@pawl/client";
import { LOOPBACK } from "@pawl/deploy/ports.ts";
import { startCluster } from "../support/cluster.ts";
import { temporaryFolder } from "../support/folder.ts";
import { startPeer, type Peer } from "./peer.ts";
import { seededRandom } from "./random.ts";
import { PHRASE } from "./shape.ts";

/** All processes and clients of the stress. */
export type StressCluster = {
  readonly databaseUrl: string;
  /** One per gateway. */
  readonly clients: readonly [PawlClient, PawlClient];
  readonly peers: readonly [Peer, Peer];
  logs(): string;
  stop(): Promise<void>;
};

/** No process dies here, so no lease may run out, however busy the machine is. */
const ENV = {
  PAWL_LEASE_MS: "20000",
  PAWL_RENEW_MS: "4000",
  PAWL_SWEEP_MS: "2000",
  PAWL_POLL_MS: "100",
  PAWL_LOG_LEVEL: "warn",
} as const;

/** Starts it on a database of its own, or on the one given. */
export async function startStressCluster(
  seed: number,
  databaseUrl?: string,
): Promise<StressCluster> {
  const folder = temporaryFolder("stress-rules");
  const rules = join(folder, "rules.yaml");
  writeFileSync(rules, `rules: [{ id: fruit, category: food, literal: ${PHRASE} }]`);
  const options = {
    env: ENV,
    envOf: { executor: { PAWL_MODERATION_RULES: rules, PAWL_EXECUTOR_SLOTS: "16" } },
  };
  const first = await startCluster(
    databaseUrl === undefined ? options : { ...options, databaseUrl },
  );
  const second = await startCluster({ ...options, databaseUrl: first.databaseUrl });
  const addressOf = ({ schedulers }: typeof first): string =>
    `${LOOPBACK}:${schedulers[0]?.port ?? 0}`;
  const one = await startPeer(addressOf(first), seededRandom(seed), (task) => other.echo(task));
  const other: Peer = await startPeer(addressOf(second), seededRandom(seed + 1), (task) =>
    one.echo(task),
  );
  return {
    databaseUrl: first.databaseUrl,
    clients: [createPawlClient({ baseUrl: first.url }), createPawlClient({ baseUrl: second.url })],
    peers: [one, other],
    logs: () => `${first.logs()}\n${second.logs()}`,
    stop: async () => {
      await Promise.all([one.leave(), other.leave()]);
      // The first one drops the database, so it goes last.
      await second.stop();
      await first.stop();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}
