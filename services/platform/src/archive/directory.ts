// The archive in a directory.

import { createReadStream } from "node:fs";
import { open, readdir } from "node:fs/promises";
import { join } from "node:path";
import { probe } from "../lifecycle/probe.ts";
import { absent, checkFolder, isDraft, writeWhole } from "../objects/files.ts";
import type { ArchiveStore } from "./store.ts";

export function directoryArchive(root: string): ArchiveStore {
  return {
    write: (name, data) => writeWhole(join(root, name), data, () => probe("archive.before-rename")),
    read: async (name, bytesMax) => {
      const file = await open(join(root, name), "r").catch(absent);
      if (file === undefined) return undefined;
      // An absent `end` reads to the end.
      const end = bytesMax === undefined ? {} : { end: bytesMax - 1 };
      return createReadStream("", { fd: file, ...end });
    },
    list: async (query) => {
      const names: string[] = [];
      for await (const name of walk(root, "", query)) {
        names.push(name);
        if (names.length === query.limit) break;
      }
      return names;
    },
    check: () => checkFolder(root),
  };
}

/** The files below a folder in order of their names. It enters no folder that lies before the place or beside the prefix. */
async function* walk(
  root: string,
  folder: string,
  asked: { readonly prefix: string; readonly after: string },
): AsyncGenerator<string> {
  const entries = (await readdir(join(root, folder), { withFileTypes: true }).catch(absent)) ?? [];
  const { prefix, after } = asked;
  for (const entry of entries.toSorted((a, b) => (a.name < b.name ? -1 : 1))) {
    const name = `${folder}${entry.name}`;
    if (entry.isDirectory()) {
      const below = `${name}/`;
      const isBeside = !below.startsWith(prefix) && !prefix.startsWith(below);
      // A place inside of the folder begins with its name.
      if (!isBeside && (below > after || after.startsWith(below))) yield* walk(root, below, asked);
    } else if (name > after && name.startsWith(prefix) && !isDraft(name)) yield name;
  }
}
