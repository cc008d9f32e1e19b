// Files that are whole or absent. A file is written under a draft name, synchronised and renamed. So a file under its own name is whole,
// also after a power failure. The stores of values and of archived runs are built on it.

import { randomUUID } from "node:crypto";
import { mkdir, open, rename, rm, stat, unlink } from "node:fs/promises";
import { dirname, join } from "node:path";

/** What the name of a draft ends with. A crash leaves drafts behind; no reader takes them for a file. */
const DRAFT = ".draft";
export const isDraft = (name: string): boolean => name.endsWith(DRAFT);

/** Writes a file. It replaces the one that exists. `onWritten` runs before the file gets its name. */
export async function writeWhole(
  path: string,
  data: AsyncIterable<Buffer> | Iterable<Buffer>,
  onWritten: () => void = () => {},
): Promise<void> {
  const folder = dirname(path);
  await mkdir(folder, { recursive: true });
  const draft = `${path}.${randomUUID()}${DRAFT}`;
  try {
    const file = await open(draft, "wx");
    try {
      // Each call writes behind the one before.
      for await (const chunk of data) await file.writeFile(chunk);
      await file.sync();
    } finally {
      await file.close();
    }
    onWritten();
    await rename(draft, path);
    await synchronise(folder);
  } catch (error) {
    await rm(draft, { force: true });
    throw error;
  }
}

/** Rejects if this process cannot write files into the folder. */
export async function checkFolder(root: string): Promise<void> {
  const found = await stat(root);
  if (!found.isDirectory()) throw new Error(`${root} is not a directory`);
  const probe = join(root, `.probe-${randomUUID()}`);
  await (await open(probe, "wx")).close();
  await unlink(probe);
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

/** For a failed read: undefined if there is no such file. */
export function absent(error: unknown): undefined {
  if (error instanceof Error && "code" in error && error.code === "ENOENT") return undefined;
  throw error;
}
