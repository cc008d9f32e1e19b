// The settings of the archive: where schedulers write finished runs before they remove them. Schedulers and gateways share them.

import { fileURLToPath } from "node:url";
import { z } from "zod";
import type { ConfigRule, DeepReadonly, VariableFault } from "./env.ts";
import { faultsOfFolder } from "./folder.ts";
import { plain, sharedSecret } from "./settings.ts";

const FORM =
  "expected the address of a directory, such as file:///var/lib/pawl/archive, or of a bucket, such as s3://pawl/archive/";

/** Where the archive is. A prefix ends with a slash, or is empty. */
type ArchivePlace =
  | { readonly kind: "directory"; readonly root: string }
  | { readonly kind: "bucket"; readonly bucket: string; readonly prefix: string };

export const archive = () => ({
  PAWL_ARCHIVE: z
    .string()
    .transform((text, context) => {
      const place = archivePlaceOf(text);
      if (place === undefined) context.addIssue({ code: "custom", message: FORM });
      return place;
    })
    .optional()
    .describe(
      "where finished runs are written before retention removes them: file:///directory or s3://bucket/prefix/; without it they are only removed",
    ),
  PAWL_ARCHIVE_ENDPOINT: z
    .url({ protocol: /^https?$/, error: "expected an http or https address" })
    .optional()
    .describe("address of the service of the archive's bucket"),
  PAWL_ARCHIVE_REGION: plain("region of the archive's bucket; us-east-1 unless set"),
  PAWL_ARCHIVE_KEY_ID: plain("access key id of the archive's bucket"),
  PAWL_ARCHIVE_SECRET: sharedSecret("secret access key of the archive's bucket"),
});

export type ArchiveConfig = DeepReadonly<z.output<z.ZodObject<ReturnType<typeof archive>>>>;

/** The place that an address names. Undefined for any other text. */
function archivePlaceOf(text: string): ArchivePlace | undefined {
  const url = URL.parse(text);
  if (url === null || url.search !== "" || url.hash !== "" || url.username !== "") return undefined;
  if (url.protocol === "file:" && url.host === "")
    return { kind: "directory", root: fileURLToPath(url) };
  if (url.protocol !== "s3:" || !/^[a-z0-9][a-z0-9.-]{1,62}$/.test(url.host)) return undefined;
  const prefix = url.pathname.slice(1).replace(/\/$/, "");
  if (!/^[A-Za-z0-9._/-]*$/.test(prefix)) return undefined;
  return { kind: "bucket", bucket: url.host, prefix: prefix === "" ? "" : `${prefix}/` };
}

const FOR_BUCKETS = [
  ...(["PAWL_ARCHIVE_ENDPOINT", "PAWL_ARCHIVE_KEY_ID", "PAWL_ARCHIVE_SECRET"] as const),
];

/** The variables of an archive that fit together. */
export const archiveRules: readonly ConfigRule<ArchiveConfig>[] = [
  {
    reads: ["PAWL_ARCHIVE"],
    faults: (config) => {
      const place = config.PAWL_ARCHIVE;
      return place?.kind === "directory"
        ? [...FOR_BUCKETS.flatMap(unneeded(config)), ...faultsOfFolder("PAWL_ARCHIVE", place.root)]
        : FOR_BUCKETS.flatMap(place === undefined ? unneeded(config) : needed(config));
    },
  },
];

const needed =
  (config: ArchiveConfig) =>
  (variable: (typeof FOR_BUCKETS)[number]): readonly VariableFault[] =>
    config[variable] === undefined ? [{ variable, expected: "is required with s3://" }] : [];

const unneeded =
  (config: ArchiveConfig) =>
  (variable: (typeof FOR_BUCKETS)[number]): readonly VariableFault[] =>
    config[variable] === undefined
      ? []
      : [{ variable, expected: "is for PAWL_ARCHIVE=s3://…; set that, or unset it" }];
