// F16: another client holds every connection of the database. Work waits. Claims stay alive, since renewals have a connection of their own.
import { setTimeout as pause } from "node:timers/promises";
import { Client } from "pg";
import { between, type Fault, type Size } from "../fault.ts";

const CONNECTIONS_MAX = 20;
const LOOK_MS = 100;
const HOLD_MS: Readonly<Record<Size, number>> = { short: 4_000, smoke: 6_000, full: 30_000 };

export const noConnections: Fault = {
  id: "F16",
  title: `${CONNECTIONS_MAX} connections, all of them taken`,
  hits: { short: 1, smoke: 1, full: 3 },
  gapMs: [2_000, 3_000],
  begin: async ({ cluster }) => {
    await cluster.postgres.crash("SIGINT");
    await cluster.postgres.restart([`max_connections=${CONNECTIONS_MAX}`]);
  },
  strike: async ({ cluster, random, size }) => {
    const at = Date.now();
    const holdMs = HOLD_MS[size] * between(1, 1.2, random);
    const held: Client[] = [];
    let refused = 0;
    while (Date.now() - at < holdMs) {
      const client = await hold(cluster.databaseUrl);
      if (client === undefined) {
        refused += 1;
        await pause(LOOK_MS);
      } else held.push(client);
    }
    await Promise.all(held.map((client) => client.end().catch(() => undefined)));
    const detail = `${held.length} held, ${refused} refused`;
    return { target: "postgres", detail, isObserved: refused > 0, at, overAt: Date.now() };
  },
  end: async ({ cluster }) => {
    await cluster.postgres.crash("SIGINT");
    await cluster.postgres.restart();
    return 0;
  },
  rules: ({ recovered }) => {
    const lapsed = recovered["lease_expired"] ?? 0;
    return lapsed === 0 ? [] : [`${lapsed} claims of living executors were taken back`];
  },
};

/** One more connection, while there is one. */
async function hold(url: string): Promise<Client | undefined> {
  const client = new Client({ connectionString: url, application_name: "chaos-holder" });
  client.on("error", () => undefined);
  try {
    await client.connect();
    return client;
  } catch {
    return undefined;
  }
}
