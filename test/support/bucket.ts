// A bucket in an S3-compatible server: a process of its own on loopback. It checks keys and names, and not the signatures of version 4.
// bucket.test.ts compares those with the documented example.

import { spawn } from "node:child_process";
import { rmSync } from "node:fs";
import { createRequire } from "node:module";
import { freePort, LOOPBACK } from "@pawl/deploy/ports.ts";
import { temporaryFolder } from "./folder.ts";
import { until } from "./until.ts";

export interface Bucket {
  readonly endpoint: string;
  readonly bucket: string;
  readonly keyId: string;
  readonly secret: string;
  readonly stop: () => Promise<void>;
}

/** The only credentials that the server knows. */
const KEY = "S3RVER";
const NAME = "pawl-values";

/** Starts the server with one empty bucket. */
export async function startBucket(): Promise<Bucket> {
  const program = createRequire(import.meta.url).resolve("s3rver/bin/s3rver.js");
  const folder = temporaryFolder("bucket");
  const port = await freePort();
  const args = ["-d", folder, "-a", LOOPBACK, "-p", String(port), "--configure-bucket", NAME];
  // The server makes the token of a list's next page with a cipher that OpenSSL 3 no longer has by default.
  const flags = ["--openssl-legacy-provider"];
  const child = spawn(process.execPath, [...flags, program, ...args, "--no-vhost-buckets"], {
    stdio: ["ignore", "ignore", "pipe"],
  });
  let output = "";
  child.stderr.on("data", (text) => (output += String(text)));
  const exit = new Promise<void>((resolve) => child.once("exit", () => resolve()));
  const endpoint = `http://${LOOPBACK}:${port}`;
  const answers = (): Promise<boolean> =>
    fetch(endpoint).then(
      () => true,
      () => false,
    );
  await until(answers, { what: `the S3 server to answer: ${output}` });
  return {
    endpoint,
    bucket: NAME,
    keyId: KEY,
    secret: KEY,
    stop: async () => {
      child.kill("SIGTERM");
      await exit;
      rmSync(folder, { recursive: true });
    },
  };
}
