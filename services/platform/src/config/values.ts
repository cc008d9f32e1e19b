// The settings of the value store: where values go that are too large for the log. Schedulers and gateways share them. A store that cannot
// work is refused at the start.

import type { Queryable } from "../db/query.ts";
import { z } from "zod";
import type { Blobs } from "../values/blobs.ts";
import { bucketBlobs } from "../values/bucket.ts";
import { directoryBlobs } from "../values/directory.ts";
import { tableBlobs } from "../values/table.ts";
import { ConfigFault, type DeepReadonly, type VariableFault } from "./env.ts";
import { count, plain, sharedSecret } from "./settings.ts";

const STORES = ["database", "directory", "bucket"] as const;
const KIB = 1024;

/** The variables of the store itself. */
export const valueStore = () => ({
  PAWL_VALUES_STORE: z
    .enum(STORES, `expected one of ${STORES.join(", ")}`)
    .default("database")
    .describe("where values go that are too large for the log: database, directory or bucket"),
  PAWL_VALUES_DIRECTORY: plain(
    "directory of large values; every scheduler and gateway sees the same one",
  ),
  PAWL_VALUES_BUCKET: plain("bucket of large values, in any store that speaks the S3 protocol"),
  PAWL_VALUES_ENDPOINT: z
    .url({ protocol: /^https?$/, error: "expected an http or https address" })
    .optional()
    .describe("address of the bucket's service, such as https://s3.eu-central-1.amazonaws.com"),
  PAWL_VALUES_REGION: plain("region of the bucket; us-east-1 unless set"),
  PAWL_VALUES_PREFIX: plain(
    "what the names of all objects in the bucket begin with, such as pawl/",
  ),
  PAWL_VALUES_KEY_ID: plain("access key id of the bucket"),
  PAWL_VALUES_SECRET: sharedSecret("secret access key of the bucket"),
});

/** The size above which a value leaves the log. */
export const inlineBytes = () => ({
  PAWL_VALUES_INLINE_BYTES: count({
    default: 255 * KIB,
    min: KIB,
    max: 255 * KIB,
    describe: "bytes of JSON above which a value is stored outside of the log",
  }),
});

type StoreConfig = DeepReadonly<z.output<z.ZodObject<ReturnType<typeof valueStore>>>>;

/** Faults of variables that do not fit together. @throws ConfigFault */
export function checkValueStore(config: StoreConfig): void {
  const faults: VariableFault[] = [];
  const need = (variable: keyof StoreConfig, store: (typeof STORES)[number]): void => {
    const isSet = config[variable] !== undefined;
    if (config.PAWL_VALUES_STORE === store && !isSet)
      faults.push({ variable, expected: `is required with PAWL_VALUES_STORE=${store}` });
    if (config.PAWL_VALUES_STORE !== store && isSet)
      faults.push({
        variable,
        expected: `is for PAWL_VALUES_STORE=${store}; set that, or unset it`,
      });
  };
  need("PAWL_VALUES_DIRECTORY", "directory");
  for (const variable of BUCKET_VARIABLES) need(variable, "bucket");
  if (faults.length > 0) throw new ConfigFault(faults);
}

const BUCKET_VARIABLES = [
  "PAWL_VALUES_BUCKET",
  "PAWL_VALUES_ENDPOINT",
  "PAWL_VALUES_KEY_ID",
  "PAWL_VALUES_SECRET",
] as const;

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
