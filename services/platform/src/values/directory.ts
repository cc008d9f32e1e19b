// The store of values in a directory, which every scheduler and gateway sees. A part is written under a temporary name, synchronised and
// renamed. So a part under its own name is whole, also after a power failure.

import { randomUUID } from "node:crypto";
import { mkdir, open, readFile, rename, rm, stat, unlink } from "node:fs/promises";
import { join } from "node:path";
import type { Blobs } from "./blobs.ts";

export function directoryBlobs(root: string): Blobs {
  // 256 folders keep each folder small.
  const folderOf = (generation: string): string => join(root, generation.slice(0, 2), generation);
  const nameOf = (generation: string, part: number): string =>
    join(folderOf(generation), String(part));
  const write = async (generation: string, part: number, data: Buffer): Promise<void> => {
    await mkdir(folderOf(generation), { recursive: true });
    const name = nameOf(generation, part);
    const draft = `${name}.${randomUUID()}`;
    try {
      const file = await open(draft, "wx");
      try {
        await file.writeFile(data);
        await file.sync();
      } finally {
        await file.close();
      }
      await rename(draft, name);
      await synchronise(folderOf(generation));
    } catch (error) {
      await rm(draft, { force: true });
      throw error;
    }
  };
  return {
    write,
    read: (generation, part) => readFile(nameOf(generation, part)).catch(absent),
    remove: (generation) => rm(folderOf(generation), { recursive: true, force: true }),
    check: async () => {
      const found = await stat(root);
      if (!found.isDirectory()) throw new Error(`${root} is not a directory`);
      const probe = join(root, `.probe-${randomUUID()}`);
      await (await open(probe, "wx")).close();
      await unlink(probe);
    },
  };
}

/** Makes the new name of a file durable. */
async function synchronise(folder: string): Promise<void> {
  const handle = await open(folder, "r");
  try {
    await handle.sync();
  } finally {
    await handle.close();
  }
}

function absent(error: unknown): undefined {
  if (error instanceof Error && "code" in error && error.code === "ENOENT") return undefined;
  throw error;
}
