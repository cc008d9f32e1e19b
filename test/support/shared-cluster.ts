// One cluster for many test files: its start costs two seconds of processor time. The files of one test process run one after the other and
// share it. It ends with the process, because the guards of its members signal them then.
//
// A file that shares leaves all processes up, reads only what it made itself, and may leave runs behind: they are cancelled with its end.
import { createPawlClient } from "@pawl/client";
import { Client } from "pg";
import { SINK_EGRESS } from "../flow/sink.ts";
import { type Cluster, startCluster } from "./cluster.ts";
import { until } from "./until.ts";

/** Each file loads the modules of tests for itself, so the cluster is kept in a global place. */
const PLACE = Symbol.for("pawl.test.cluster");
// No other code writes under this symbol.
const place = globalThis as { [PLACE]?: Promise<Cluster> };

const LIVE = "select run_id::text from pawl.runs where ended_at is null";

/** The cluster of this process. Its logs begin with the call, and `stop` only settles what the file has left behind. */
export async function sharedCluster(): Promise<Cluster> {
  const cluster = await (place[PLACE] ??= startCluster({ env: SINK_EGRESS }));
  const members = [...cluster.schedulers, ...cluster.executors, ...cluster.gateways].map(
    (member) => ({ member, from: member.logs().length }),
  );
  const logs = (): string =>
    members
      .map(({ member, from }) => `--- ${member.name}\n${member.logs().slice(from)}`)
      .join("\n");
  const stop = () => cancelAll(cluster);
  return { ...cluster, logs, stop, [Symbol.asyncDispose]: stop };
}

async function cancelAll({ databaseUrl, url }: Cluster): Promise<void> {
  const db = new Client({ connectionString: databaseUrl });
  const client = createPawlClient({ baseUrl: url });
  await db.connect();
  try {
    const live = async (): Promise<readonly string[]> =>
      (await db.query<{ run_id: string }>(LIVE)).rows.map(({ run_id }) => run_id);
    // A run may end by itself meanwhile.
    for (const runId of await live()) await client.runs.cancel(runId).catch(() => undefined);
    await until(async () => (await live()).length === 0, { what: "the runs of the file to end" });
  } finally {
    await db.end();
  }
}
