import { mkdir, readdir, rm } from "node:fs/promises";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { type Bucket, startBucket } from "../../../../test/support/bucket.ts";
import { temporaryFolder } from "../../../../test/support/folder.ts";
import { Secret } from "../config/secret.ts";
import { bucketArchive } from "./bucket.ts";
import { directoryArchive } from "./directory.ts";
import type { ArchiveStore } from "./store.ts";

let bucket: Bucket;
let folder: string;

beforeAll(async () => {
  bucket = await startBucket();
  folder = temporaryFolder("archive");
});
afterAll(async () => {
  await bucket.stop();
  await rm(folder, { recursive: true });
});

const openers: readonly (readonly [string, () => ArchiveStore])[] = [
  ["a directory", () => directoryArchive(folder)],
  [
    "a bucket",
    () =>
      bucketArchive({
        ...{ bucket: bucket.bucket, endpoint: bucket.endpoint, region: "us-east-1" },
        ...{ prefix: "deep/archive/", keyId: bucket.keyId, secret: new Secret(bucket.secret) },
      }),
  ],
];

async function* pieces(...all: readonly Buffer[]): AsyncGenerator<Buffer> {
  yield* all;
}

async function whole(object: AsyncIterable<Buffer> | undefined): Promise<Buffer | undefined> {
  if (object === undefined) return undefined;
  const read: Buffer[] = [];
  for await (const piece of object) read.push(piece);
  return Buffer.concat(read);
}

describe.each(openers)("%s", (_, open) => {
  test("keeps objects whole, replaces them, and has nothing after a write that failed", async () => {
    const archive = open();
    await archive.check();
    const name = "2026-05/01/00/a.ndjson.gz";
    expect(await whole(await archive.read(name))).toBeUndefined();
    await archive.write(name, pieces(Buffer.from("one"), Buffer.from("two")));
    await archive.write(name, pieces(Buffer.from("three")));
    expect((await whole(await archive.read(name)))?.toString()).toBe("three");
    expect((await whole(await archive.read(name, 3)))?.toString()).toBe("thr");
    const failing = (async function* () {
      yield Buffer.from("x".repeat(20_000_000));
      throw new Error("the run cannot be read");
    })();
    await expect(archive.write(name, failing)).rejects.toThrow("the run cannot be read");
    expect((await whole(await archive.read(name)))?.toString()).toBe("three");
    const large = Buffer.alloc(17_000_000, "abcdefgh");
    await archive.write(name, pieces(large.subarray(0, 9_000_000), large.subarray(9_000_000)));
    expect((await whole(await archive.read(name)))?.equals(large)).toBe(true);
  });

  test("lists names in order, of a month, behind a place", async () => {
    const archive = open();
    const names = [
      "2026-06/01/00/a.ndjson.gz",
      "2026-06/01/00/b.ndjson.gz",
      "2026-06/01/13/a.ndjson.gz",
      "2026-06/30/00/a.ndjson.gz",
      "2026-07/01/00/a.ndjson.gz",
    ];
    for (const name of names.toReversed()) await archive.write(name, pieces(Buffer.from(name)));
    const page = (after: string, limit: number, prefix = "2026-06/") =>
      archive.list({ prefix, after, limit });
    expect(await page("", 2)).toEqual(names.slice(0, 2));
    for (const at of [0, 1, 2])
      expect(await page(names[at] ?? "", 9)).toEqual(names.slice(at + 1, 4));
    expect(await page(names[3] ?? "", 9)).toEqual([]);
    expect(await page(names[3] ?? "", 9, "")).toEqual(names.slice(4));
    expect(await page("", 9, "2026-08/")).toEqual([]);
  });
});

test("a write that the bucket refuses ends the reading of its data", async () => {
  const archive = bucketArchive({
    ...{ bucket: "no-such-bucket", endpoint: bucket.endpoint, region: "us-east-1" },
    ...{ prefix: "", keyId: bucket.keyId, secret: new Secret(bucket.secret) },
  });
  let isOpen = true;
  const data = (async function* () {
    try {
      for (let piece = 0; piece < 4; piece += 1) yield Buffer.alloc(9_000_000);
    } finally {
      isOpen = false;
    }
  })();
  await expect(archive.write("a", data)).rejects.toThrow("404");
  expect(isOpen).toBe(false);
});

test("a directory shows no draft, and one that is missing is refused", async () => {
  const root = join(folder, "own");
  await expect(directoryArchive(root).check()).rejects.toThrow("ENOENT");
  await mkdir(root);
  const archive = directoryArchive(root);
  let seen: readonly string[] = [];
  const data = (async function* () {
    yield Buffer.from("x");
    seen = await readdir(join(root, "2026-06/01/00"));
  })();
  await archive.write("2026-06/01/00/a.ndjson.gz", data);
  expect(seen).toEqual([expect.stringMatching(/^a\.ndjson\.gz\..*\.draft$/)]);
  const names = await archive.list({ prefix: "", after: "", limit: 9 });
  expect(names).toEqual(["2026-06/01/00/a.ndjson.gz"]);
});
