import { tmpdir } from "node:os";
import { fileURLToPath, pathToFileURL } from "node:url";
import { expect, test } from "vitest";
import { z } from "zod";
import { archive, archiveRules } from "./archive.ts";
import { ConfigFault, type Env, parseEnv } from "./env.ts";

const parse = (env: Env) => parseEnv(z.object(archive()), env, { rules: archiveRules });

/** The variables at fault. */
function faulty(env: Env): readonly string[] {
  try {
    parse(env);
    return [];
  } catch (error) {
    if (!(error instanceof ConfigFault)) throw error;
    return error.faults.map(({ variable }) => variable);
  }
}

const BUCKET = {
  PAWL_ARCHIVE: "s3://pawl/deep/archive",
  PAWL_ARCHIVE_ENDPOINT: "https://s3.example.com",
  PAWL_ARCHIVE_KEY_ID: "id",
  PAWL_ARCHIVE_SECRET: "secret",
};

test("an archive is a directory or a bucket with a prefix, or none", () => {
  expect(parse({}).PAWL_ARCHIVE).toBeUndefined();
  const address = pathToFileURL(tmpdir()).href;
  expect(parse({ PAWL_ARCHIVE: address }).PAWL_ARCHIVE).toEqual({
    ...{ kind: "directory", root: tmpdir() },
  });
  const place = { kind: "bucket", bucket: "pawl", prefix: "deep/archive/" };
  expect(parse(BUCKET).PAWL_ARCHIVE).toEqual(place);
  expect(parse({ ...BUCKET, PAWL_ARCHIVE: "s3://pawl" }).PAWL_ARCHIVE).toEqual({
    ...{ ...place, prefix: "" },
  });
});

test("an address of another kind, a file, and variables that do not belong together are refused", () => {
  const addresses = [
    "/var/archive",
    "file://host/x",
    "https://x/y",
    "s3://",
    "s3://a/b?c",
    "s3://a/ü ",
  ];
  for (const address of addresses)
    expect(faulty({ ...BUCKET, PAWL_ARCHIVE: address }), address).toContain("PAWL_ARCHIVE");
  const file = pathToFileURL(fileURLToPath(import.meta.url)).href;
  expect(faulty({ PAWL_ARCHIVE: file })).toEqual(["PAWL_ARCHIVE"]);
  expect(faulty({ PAWL_ARCHIVE: "s3://pawl" })).toEqual(Object.keys(BUCKET).slice(1));
  const { PAWL_ARCHIVE: _, ...others } = BUCKET;
  expect(faulty(others)).toEqual(Object.keys(others));
});
