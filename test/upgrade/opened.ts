// A dump that this build has opened: its database, restored and migrated, with services on it and a peer that completes every task.

import { readFileSync } from "node:fs";
import { createPawlClient, jsonOf, type PawlClient } from "@pawl/client";
import { LOOPBACK } from "@pawl/deploy/ports.ts";
import { expect } from "vitest";
import { z } from "zod";
import { type Cluster, startCluster } from "../support/cluster.ts";
import { emptyDatabase } from "../support/postgres.ts";
import { restoreDatabase, unpack } from "./dump.ts";
import { type Dump, fileOf } from "./dumps.ts";
import { startPeer } from "./peer.ts";
import {
  BY_NEW,
  MODERATION_RULES,
  PAUSED,
  POISON,
  type Scene,
  TASK,
  TYPED,
  UNSERVED,
} from "./scene.ts";
import { stateOf } from "./state.ts";

const inputSchema = z.object({ scene: z.string() });

export type Opened = {
  readonly url: string;
  readonly cluster: Cluster;
  readonly client: PawlClient;
  readonly runOf: (scene: Pick<Scene, "name">) => string;
  /** Waits for the end of the run and compares it with its scene. */
  readonly expectEnd: (scene: Scene) => Promise<void>;
  readonly close: () => Promise<void>;
};

export const textOf = (dump: Dump): string => unpack(readFileSync(fileOf(dump)));

export async function openDump(dump: Dump): Promise<Opened> {
  const database = await emptyDatabase();
  const { url } = database;
  await restoreDatabase(url, textOf(dump));
  const cluster = await startCluster({
    databaseUrl: url,
    envOf: { executor: { PAWL_MODERATION_RULES: MODERATION_RULES } },
  });
  const client = createPawlClient({ baseUrl: cluster.url });
  const peer = await startPeer(`${LOOPBACK}:${cluster.schedulers[0]?.port ?? 0}`, {
    nodeTypes: [TASK, TYPED, UNSERVED, PAUSED, POISON],
    output: BY_NEW,
    fate: () => "complete",
  });
  const runIds = await readScenes(client);
  const runOf = ({ name }: Pick<Scene, "name">): string => runIds.get(name) ?? `no run of ${name}`;
  return {
    url,
    cluster,
    client,
    runOf,
    expectEnd: (scene) => expectEnd(client, runOf(scene), scene),
    close: async () => {
      await peer.leave();
      await cluster.stop();
      await database.drop();
    },
  };
}

/** The runs of a dump by the scene in their input. */
async function readScenes(client: PawlClient): Promise<ReadonlyMap<string, string>> {
  const runIds = new Map<string, string>();
  const { runs } = await client.runs.list({ pageSize: 100 });
  for (const { runId } of runs) {
    const { run } = await client.runs.get(runId);
    const input = inputSchema.safeParse(jsonOf(run.inputJson));
    if (input.success) runIds.set(input.data.scene, runId);
  }
  return runIds;
}

async function expectEnd(client: PawlClient, runId: string, { ends }: Scene): Promise<void> {
  await client.runs.wait(runId, { signal: AbortSignal.timeout(30_000) });
  const { status, output, nodes } = await stateOf(client, runId);
  expect({ status, output, nodes }).toMatchObject({
    ...ends,
    ...(ends.output === undefined ? { output } : {}),
  });
}
