// Opens the store of values that the settings name.

import { ConfigFault } from "../config/env.ts";
import type { StoreConfig } from "../config/values.ts";
import type { Queryable } from "../db/query.ts";
import type { Blobs } from "./blobs.ts";
import { bucketBlobs } from "./bucket.ts";
import { directoryBlobs } from "./directory.ts";
import { tableBlobs } from "./table.ts";

/** The store that the settings name. */
function blobsOf(config: StoreConfig, db: Queryable): Blobs {
  const { PAWL_VALUES_DIRECTORY: directory, PAWL_VALUES_BUCKET: bucket } = config;
  if (directory !== undefined) return directoryBlobs(directory);
  const { PAWL_VALUES_ENDPOINT: endpoint, PAWL_VALUES_KEY_ID: keyId } = config;
  const { PAWL_VALUES_SECRET: secret } = config;
  if (bucket === undefined || endpoint === undefined || keyId === undefined || secret === undefined)
    return tableBlobs(db);
  const { PAWL_VALUES_REGION: region = "us-east-1", PAWL_VALUES_PREFIX: prefix = "" } = config;
  return bucketBlobs({ bucket, endpoint, keyId, secret, region, prefix });
}

/** Opens the store and proves that it works. @throws ConfigFault */
export async function openBlobs(config: StoreConfig, db: Queryable): Promise<Blobs> {
  const blobs = blobsOf(config, db);
  try {
    await blobs.check();
    return blobs;
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error);
    const variable =
      config.PAWL_VALUES_STORE === "bucket" ? "PAWL_VALUES_BUCKET" : "PAWL_VALUES_DIRECTORY";
    throw new ConfigFault([{ variable, expected: `the value store does not work: ${why}` }]);
  }
}
