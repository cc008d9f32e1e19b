// The store of values in a directory, which every scheduler and gateway sees. A part under its own name is whole.

import { readFile, rm } from "node:fs/promises";
import { join } from "node:path";
import { absent, checkFolder, writeWhole } from "../objects/files.ts";
import type { Blobs } from "./blobs.ts";

export function directoryBlobs(root: string): Blobs {
  // 256 folders keep each folder small.
  const folderOf = (generation: string): string => join(root, generation.slice(0, 2), generation);
  const nameOf = (generation: string, part: number): string =>
    join(folderOf(generation), String(part));
  return {
    write: (generation, part, data) => writeWhole(nameOf(generation, part), [data]),
    read: (generation, part) => readFile(nameOf(generation, part)).catch(absent),
    remove: (generation) => rm(folderOf(generation), { recursive: true, force: true }),
    check: () => checkFolder(root),
  };
}
