// Retention with an archive in a bucket that fails: it answers with an error, and it loses connections at the worst moments. Nothing is lost:
// a run stays in the database until its object is whole, and a restore that fails leaves nothing.
import { Secret } from "@pawl/platform/config/secret";
import { bucketArchive } from "@pawl/platform/archive/bucket";
import { archiveNameOf } from "@pawl/platform/archive/store";
import { createPawlClient, type PawlClient, PawlError } from "@pawl/client";
import pg from "pg";
import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";
import { graph, script } from "../flow/graph.ts";
import { type Bucket, startBucket } from "../support/bucket.ts";
import { type Cluster, startCluster } from "../support/cluster.ts";
import { BUCKET_FAULTS, type FaultyBucket, startFaultyBucket } from "../support/faulty-bucket.ts";
import { checkInvariants } from "../support/invariants.ts";
import { rowsOf } from "../support/run-rows.ts";
import { until } from "../support/until.ts";

const PREFIX = "old/";
let bucket: Bucket;
let relay: FaultyBucket;
let cluster: Cluster;
let client: PawlClient;
let db: pg.Client;

beforeAll(async () => {
  bucket = await startBucket();
  relay = await startFaultyBucket(bucket.endpoint);
  const archive = {
    PAWL_ARCHIVE: `s3://${bucket.bucket}/${PREFIX}`,
    PAWL_ARCHIVE_ENDPOINT: relay.endpoint,
    PAWL_ARCHIVE_KEY_ID: bucket.keyId,
    PAWL_ARCHIVE_SECRET: bucket.secret,
  };
  const retention = { PAWL_RETENTION: "all=1s", PAWL_RETENTION_MS: "200" };
  cluster = await startCluster({
    envOf: { scheduler: { ...archive, ...retention }, gateway: archive },
  });
  client = createPawlClient({ baseUrl: cluster.url, attempts: 1 });
  db = new pg.Client({ connectionString: cluster.databaseUrl, options: "-c search_path=pawl" });
  await db.connect();
});
beforeEach(({ onTestFailed }) => onTestFailed(() => console.error(cluster.logs().slice(-20_000))));
afterAll(async () => {
  await db.end();
  await cluster.stop();
  await relay.stop();
  await bucket.stop();
});

/** The bucket itself, without the relay. */
const stored = () =>
  bucketArchive({
    ...bucket,
    region: "us-east-1",
    prefix: PREFIX,
    secret: new Secret(bucket.secret),
  });
const names = () => stored().list({ prefix: "", after: "", limit: 9 });

const reasonOf = (answer: Promise<unknown>): Promise<unknown> =>
  answer.then(
    () => "accepted",
    (error: unknown) => (error instanceof PawlError ? error.reason : error),
  );

/** A finished run with a stored value, metadata and a child run, and the child. */
async function runFamily(): Promise<readonly [string, string]> {
  await client.workflows.create(graph(["start > end"]), { workflowId: "child" });
  const definition = graph(["start > make > nested > end"], {
    make: script('return { text: "é".repeat(200000), small: 1.50 }', { write_key: "made" }),
    nested: { type: "subworkflow", config: { workflow_id: "child" } },
  });
  await client.workflows.create(definition, { workflowId: "parent" });
  const { run } = await client.runs.start("parent", { metadata: { big: 1e21 } });
  expect((await client.runs.wait(run.runId)).errorMessage).toBe("");
  const { runs } = await client.runs.list({ workflowId: "child" });
  return [run.runId, runs[0]?.runId ?? ""];
}

test("a run stays until its object in the bucket is whole, whatever the bucket does, and comes back the same with its child run (S4.1)", async () => {
  const [first] = BUCKET_FAULTS;
  relay.spoil("PUT", first);
  const family = await runFamily();
  const rows = () => Promise.all(family.map((runId) => rowsOf(db, runId)));
  const before = await rows();
  expect(before[0]?.["value_refs"]).not.toEqual([]);
  for (const fault of BUCKET_FAULTS) {
    relay.spoil("PUT", fault);
    // Only the parent is tried, as its child goes after it. So the second attempt is of a later pass.
    await until(() => relay.spoiled() >= 2, { what: `two attempts while ${fault}` });
    expect(await rows(), fault).toEqual(before);
  }
  relay.mend();
  await until(async () => (await rows()).every(({ runs }) => runs?.length === 0), {
    what: "both runs to be removed",
  });
  expect(await names()).toEqual(family.map(archiveNameOf).toSorted());

  const [parent] = family;
  for (const fault of BUCKET_FAULTS) {
    relay.spoil("GET", fault);
    expect(await reasonOf(client.archive.restore(parent)), fault).toBe("STORE_UNAVAILABLE");
    expect(await reasonOf(client.archive.get(parent)), fault).toBe("STORE_UNAVAILABLE");
    expect(
      (await rows()).flatMap(({ runs, run_events: events }) => [runs, events]),
      fault,
    ).toEqual([[], [], [], []]);
  }
  // The bucket takes no object now, so retention leaves the restored runs where they are.
  relay.spoil("PUT", first);
  const { restoredRunIds, missingRunIds } = await client.archive.restore(parent);
  expect([restoredRunIds, missingRunIds]).toEqual([family, []]);
  expect(await rows()).toEqual(before);
  expect(await checkInvariants(cluster.databaseUrl)).toEqual([]);
});
