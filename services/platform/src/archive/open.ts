// Opens the archive that the settings name.

import type { ArchiveConfig } from "../config/archive.ts";
import { ConfigFault } from "../config/env.ts";
import { bucketArchive } from "./bucket.ts";
import { directoryArchive } from "./directory.ts";
import type { ArchiveStore } from "./store.ts";

function archiveOf(config: ArchiveConfig): ArchiveStore | undefined {
  const { PAWL_ARCHIVE: place, PAWL_ARCHIVE_REGION: region = "us-east-1" } = config;
  if (place === undefined) return undefined;
  if (place.kind === "directory") return directoryArchive(place.root);
  const { PAWL_ARCHIVE_ENDPOINT: endpoint, PAWL_ARCHIVE_KEY_ID: keyId } = config;
  const { PAWL_ARCHIVE_SECRET: secret } = config;
  // The rules of the settings proved that a bucket has them.
  if (endpoint === undefined || keyId === undefined || secret === undefined) return undefined;
  return bucketArchive({ ...place, endpoint, region, keyId, secret });
}

/** Opens the archive and proves that it works. Undefined if none is set. @throws ConfigFault */
export async function openArchive(config: ArchiveConfig): Promise<ArchiveStore | undefined> {
  const archive = archiveOf(config);
  try {
    await archive?.check();
    return archive;
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error);
    throw new ConfigFault([
      { variable: "PAWL_ARCHIVE", expected: `the archive does not work: ${why}` },
    ]);
  }
}
