// The trio of a file of wire tests: one cluster for all of its tests, shared with other files if it needs no options of its own, a view into its database, and the check after every bad input that
// all processes are still up and that nothing was written.
import { Client } from "pg";
import { afterAll, beforeAll, beforeEach, expect } from "vitest";
import { type Cluster, type ClusterOptions, startCluster } from "../support/cluster.ts";
import { sharedCluster } from "../support/shared-cluster.ts";
import { type Door, openDoors } from "./doors.ts";

/** A running trio with every way in. */
export type Stage = {
  readonly cluster: Cluster;
  readonly url: string;
  readonly port: number;
  readonly db: Client;
  readonly doors: readonly Door[];
  /** The way in of that name. */
  readonly door: (name: string) => Door;
  /** Runs the test, then checks that the processes are the same, are ready, and hold the same rows as before. */
  readonly unharmed: (act: () => Promise<void>) => Promise<void>;
  /** How many rows of each kind there are. */
  readonly rows: () => Promise<Readonly<Record<string, string>>>;
};

const ROWS = `select (select count(*) from pawl.runs) as runs, (select count(*) from pawl.run_events) as events,
  (select count(*) from pawl.definitions) as definitions, (select count(*) from pawl.workflows) as workflows`;

/** Takes the shared cluster before the file's first test, or starts one with the options; gives it to `ready` first. Ends it after the last. */
export function useStage(
  options?: ClusterOptions,
  ready: (stage: Stage) => Promise<void> = async () => undefined,
): () => Stage {
  let current: Stage | undefined;
  const stage = (): Stage => {
    if (current === undefined) throw new Error("the stage is used before it is set");
    return current;
  };
  let close = (): void => undefined;
  beforeAll(async () => {
    const cluster = await (options === undefined ? sharedCluster() : startCluster(options));
    const db = new Client({ connectionString: cluster.databaseUrl });
    await db.connect();
    const opened = openDoors(cluster.url);
    close = () => opened.close();
    current = stageOf(cluster, db, opened.doors);
    await ready(current);
  });
  beforeEach(({ onTestFailed }) => onTestFailed(() => console.error(stage().cluster.logs())));
  afterAll(async () => {
    close();
    await current?.db.end();
    await current?.cluster.stop();
  });
  return stage;
}

function stageOf(cluster: Cluster, db: Client, doors: readonly Door[]): Stage {
  const members = [...cluster.schedulers, ...cluster.executors, ...cluster.gateways];
  const pids = members.map(({ pid }) => pid);
  const rows = async (): Promise<Record<string, string>> =>
    (await db.query<Record<string, string>>(ROWS)).rows[0] ?? {};
  return {
    cluster,
    url: cluster.url,
    port: cluster.gateways[0]?.port ?? 0,
    db,
    doors,
    rows,
    door: (name) => {
      const found = doors.find((door) => door.name === name);
      if (found === undefined) throw new Error(`there is no door ${name}`);
      return found;
    },
    unharmed: async (act) => {
      const before = await rows();
      await act();
      expect(await rows()).toEqual(before);
      expect(members.map(({ pid }) => pid)).toEqual(pids);
      for (const pid of pids) process.kill(pid, 0);
      expect((await fetch(`${cluster.url}/readyz`)).status).toBe(200);
    },
  };
}
