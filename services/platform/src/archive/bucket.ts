// The archive in a bucket. A small object is one PUT. A large one is sent in parts, which become an object in one step. Parts of an upload
// that a crash cut off are no object; let a rule of the bucket remove them.

import { type Bucket, type BucketOptions, openBucket } from "../objects/bucket.ts";
import type { ArchiveStore } from "./store.ts";

/** The size of a part. A store with the S3 protocol takes no smaller ones but for the last. */
const PART_BYTES = 8 * 1024 * 1024;
/** Names in one answer, at most. */
const NAMES_MAX = 1_000;

export function bucketArchive(options: BucketOptions): ArchiveStore {
  const bucket = openBucket(options);
  return {
    write: async (name, data) => {
      const parts = inParts(data);
      try {
        const first = (await parts.next()).value ?? Buffer.alloc(0);
        const second = await parts.next();
        if (second.done === true) return await bucket.put(name, first);
        await upload(bucket, name, joined(first, second.value, parts));
      } finally {
        // After a failure the reader of the data must not stay open.
        await parts.return(undefined);
      }
    },
    read: async (name, bytesMax) => {
      const range = bytesMax === undefined ? {} : { range: `bytes=0-${bytesMax - 1}` };
      const response = await bucket.get(name, range);
      return response === undefined ? undefined : bytesOf(response);
    },
    list: async ({ prefix, after, limit }) => {
      const response = await bucket.ask("GET", undefined, {
        query: {
          "list-type": "2",
          "max-keys": String(Math.min(limit, NAMES_MAX)),
          prefix: `${bucket.prefix}${prefix}`,
          ...(after === "" ? {} : { "start-after": `${bucket.prefix}${after}` }),
        },
      });
      // The names have no character that XML escapes.
      const found = (await response.text()).matchAll(/<Key>([^<]*)<\/Key>/g);
      return [...found].map(([, key = ""]) => key.slice(bucket.prefix.length));
    },
    check: bucket.check,
  };
}

async function* bytesOf(response: Response): AsyncGenerator<Buffer> {
  for await (const chunk of response.body ?? []) yield Buffer.from(chunk);
}

/** The bytes in parts of one size; the last may be smaller. */
async function* inParts(data: AsyncIterable<Buffer>): AsyncGenerator<Buffer, undefined> {
  let held: Buffer[] = [];
  let size = 0;
  for await (const chunk of data) {
    held.push(chunk);
    size += chunk.length;
    while (size >= PART_BYTES) {
      const all = Buffer.concat(held);
      yield all.subarray(0, PART_BYTES);
      held = [all.subarray(PART_BYTES)];
      size -= PART_BYTES;
    }
  }
  if (size > 0) yield Buffer.concat(held);
  return undefined;
}

async function* joined(
  first: Buffer,
  second: Buffer,
  others: AsyncIterator<Buffer>,
): AsyncGenerator<Buffer> {
  yield first;
  yield second;
  for (let next = await others.next(); next.done !== true; next = await others.next())
    yield next.value;
}

/** Sends an object in parts. The last request makes the object of them. */
async function upload(bucket: Bucket, name: string, parts: AsyncIterable<Buffer>): Promise<void> {
  const begun = await (await bucket.ask("POST", name, { query: { uploads: "" } })).text();
  const uploadId = /<UploadId>([^<]+)<\/UploadId>/.exec(begun)?.[1];
  if (uploadId === undefined) throw new Error("the bucket began no upload");
  try {
    const lines: string[] = [];
    for await (const body of parts) {
      const partNumber = lines.length + 1;
      const query = { partNumber: String(partNumber), uploadId };
      const answer = await bucket.ask("PUT", name, { body, query });
      const tag = answer.headers.get("etag") ?? "";
      await answer.arrayBuffer();
      lines.push(`<Part><PartNumber>${partNumber}</PartNumber><ETag>${tag}</ETag></Part>`);
    }
    const body = Buffer.from(
      `<CompleteMultipartUpload>${lines.join("")}</CompleteMultipartUpload>`,
    );
    const ended = await (await bucket.ask("POST", name, { body, query: { uploadId } })).text();
    // The service answers before it is done, so a failure comes in the body.
    if (ended.includes("<Error>")) throw new Error(`the upload failed: ${ended.slice(0, 200)}`);
  } catch (error) {
    await bucket.ask("DELETE", name, { query: { uploadId } }).catch(() => undefined);
    throw error;
  }
}
