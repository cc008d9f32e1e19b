// The settings of the value store: where values go that are too large for the log. Schedulers and gateways share them. A store that cannot
// work is refused at the start.

import { z } from "zod";
import type { ConfigRule, DeepReadonly, VariableFault } from "./env.ts";
import { faultsOfFolder } from "./folder.ts";
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

export type StoreConfig = DeepReadonly<z.output<z.ZodObject<ReturnType<typeof valueStore>>>>;

/** The variables of a store that fit together. */
export const valueStoreRules: readonly ConfigRule<StoreConfig>[] = [
  {
    reads: ["PAWL_VALUES_STORE"],
    faults: (config) => [
      ...needed(config, "PAWL_VALUES_DIRECTORY", "directory"),
      ...BUCKET_VARIABLES.flatMap((variable) => needed(config, variable, "bucket")),
    ],
  },
  { reads: ["PAWL_VALUES_DIRECTORY"], faults: faultsOfDirectory },
];

const BUCKET_VARIABLES = [
  "PAWL_VALUES_BUCKET",
  "PAWL_VALUES_ENDPOINT",
  "PAWL_VALUES_KEY_ID",
  "PAWL_VALUES_SECRET",
] as const;

function needed(
  config: StoreConfig,
  variable: keyof StoreConfig,
  store: (typeof STORES)[number],
): readonly VariableFault[] {
  const isSet = config[variable] !== undefined;
  const isChosen = config.PAWL_VALUES_STORE === store;
  if (isSet === isChosen) return [];
  const expected = isChosen
    ? `is required with PAWL_VALUES_STORE=${store}`
    : `is for PAWL_VALUES_STORE=${store}; set that, or unset it`;
  return [{ variable, expected }];
}

/** The store makes the directory if there is none. */
function faultsOfDirectory({ PAWL_VALUES_DIRECTORY: path }: StoreConfig): readonly VariableFault[] {
  return path === undefined ? [] : faultsOfFolder("PAWL_VALUES_DIRECTORY", path);
}
