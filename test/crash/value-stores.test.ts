// A run with 5 MB of values in a directory and in a bucket, whose scheduler is killed while it stores one of them. The bytes are not in the
// database, and readers get them to the letter.
import { rmSync } from "node:fs";
import { createPawlClient } from "@pawl/client";
import pg from "pg";
import { expect, onTestFinished, test } from "vitest";
import { graph, script } from "../flow/graph.ts";
import { storyOf } from "../flow/story.ts";
import { startBucket } from "../support/bucket.ts";
import { startCluster } from "../support/cluster.ts";
import { temporaryFolder } from "../support/folder.ts";
import { checkInvariants } from "../support/invariants.ts";
import { failpoints, replaceScheduler } from "./processes.ts";

function directory() {
  const folder = temporaryFolder("values");
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  return { PAWL_VALUES_STORE: "directory", PAWL_VALUES_DIRECTORY: folder };
}

async function bucket() {
  const { bucket: name, endpoint, keyId, secret, stop } = await startBucket();
  onTestFinished(stop);
  return {
    PAWL_VALUES_STORE: "bucket",
    PAWL_VALUES_BUCKET: name,
    PAWL_VALUES_ENDPOINT: endpoint,
    PAWL_VALUES_KEY_ID: keyId,
    PAWL_VALUES_SECRET: secret,
  };
}

test.each([
  ["directory", directory],
  ["bucket", bucket],
] as const)(
  "a value of 5 MB in a %s survives a scheduler that is killed while it stores the value (S2.34)",
  async (_, storeOf) => {
    const env = await storeOf();
    await using cluster = await startCluster({ envOf: { scheduler: env, gateway: env } });
    const client = createPawlClient({ baseUrl: cluster.url, attempts: 30 });
    await cluster.schedulers[0]?.kill("SIGKILL");
    const doomed = await replaceScheduler(cluster, {
      ...env,
      ...failpoints("value.before-seal=kill"),
    });
    const rows = 'Array.from({ length: 5 }, (_, i) => "r" + i + "x".repeat(1_000_000))';
    const made = client.runs.test(
      graph(["start > make > read"], {
        make: script(`return { rows: ${rows}, n: 5 }`, { write_key: "made" }),
        read: script("return ctx.memory.made.rows.map((row) => row.length)"),
      }),
    );
    expect(await doomed.exited()).toBe("SIGKILL");
    await replaceScheduler(cluster, env);
    const { run } = await made;
    const story = await storyOf(client, run.runId);
    expect(story.status, story.run.errorMessage).toBe("completed");
    expect(story.outputOf("read")).toEqual(Array(5).fill(1_000_002));
    const whole = await client.runs.whole(run.runId, story.outputOf("make") ?? null);
    expect(whole).toEqual({
      rows: [0, 1, 2, 3, 4].map((at) => `r${at}${"x".repeat(1_000_000)}`),
      n: 5,
    });
    const db = new pg.Client({ connectionString: cluster.databaseUrl });
    await db.connect();
    try {
      const { rowCount } = await db.query("select from pawl.value_parts");
      expect(rowCount).toBe(0);
    } finally {
      await db.end();
    }
    expect(await checkInvariants(cluster.databaseUrl, [run.runId])).toEqual([]);
  },
);
