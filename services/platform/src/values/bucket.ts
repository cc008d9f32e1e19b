// The store of values in a bucket. A PUT is atomic, so a part is whole or absent.

import { type BucketOptions, openBucket } from "../objects/bucket.ts";
import type { Blobs } from "./blobs.ts";

export function bucketBlobs(options: BucketOptions): Blobs {
  const bucket = openBucket(options);
  const nameOf = (generation: string, part: number): string =>
    `${generation.slice(0, 2)}/${generation}/${part}`;
  return {
    write: (generation, part, data) => bucket.put(nameOf(generation, part), data),
    read: async (generation, part) => {
      const found = await bucket.get(nameOf(generation, part));
      return found && Buffer.from(await found.arrayBuffer());
    },
    remove: async (generation, parts) => {
      for (let part = 0; part < parts; part += 1) await bucket.remove(nameOf(generation, part));
    },
    check: bucket.check,
  };
}
