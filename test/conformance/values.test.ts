// Stored values on both stores of rows, and in every store of bytes.

import { rmSync } from "node:fs";
import { directoryBlobs } from "@pawl/platform/values/directory";
import { memoryBlobs } from "@pawl/platform/values/memory.fixture";
import { tableBlobs } from "@pawl/platform/values/table";
import { Secret } from "@pawl/platform/config/secret";
import { bucketBlobs } from "@pawl/platform/values/bucket";
import { afterAll, beforeAll, expect, onTestFinished, test } from "vitest";
import { type Bucket, startBucket } from "../support/bucket.ts";
import { temporaryFolder } from "../support/folder.ts";
import { openMemory } from "./memory.ts";
import { postgresWith } from "./postgres.ts";
import { valuesSuite } from "./values.ts";

const openPostgres = postgresWith();

valuesSuite("memory", openMemory, async () => memoryBlobs());
valuesSuite("Postgres", openPostgres, async ({ db }) => {
  if (db === undefined) throw new Error("this store has no database");
  return tableBlobs(db);
});
valuesSuite("directory", openMemory, async () => {
  const folder = temporaryFolder("values");
  onTestFinished(() => rmSync(folder, { recursive: true }));
  return directoryBlobs(folder);
});

let bucket: Bucket;
beforeAll(async () => {
  bucket = await startBucket();
});
afterAll(() => bucket.stop());

const blobsIn = (over: Partial<Parameters<typeof bucketBlobs>[0]> = {}) =>
  bucketBlobs({
    ...bucket,
    secret: new Secret(bucket.secret),
    region: "us-east-1",
    prefix: "large values/é/",
    ...over,
  });

valuesSuite("bucket", openMemory, async () => blobsIn());

test("a bucket proves at the start that it works: a wrong key or name is refused (S2.34)", async () => {
  await blobsIn().check();
  await expect(blobsIn({ keyId: "stranger" }).check()).rejects.toThrow("InvalidAccessKeyId");
  await expect(blobsIn({ bucket: "missing" }).check()).rejects.toThrow("NoSuchBucket");
});
