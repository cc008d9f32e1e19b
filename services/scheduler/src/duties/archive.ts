// Writes finished runs to the archive, before retention removes them.
//
// A kill at any moment leaves a run in the database, in the archive, or in both. It is never in neither, because an object gets its name
// when it is whole, and the removal comes after that. Race: a user closes a dead letter, or changes another fact of the run, between the archive and
// the removal. The stamp of the run differs then, so the run stays, and the next sweep archives it again.

import { DEFAULT_TENANT } from "@pawl/core/name/tenant";
import type { RunId } from "@pawl/core/name/ids";
import { archiveLines, compressed, type LineSources } from "@pawl/platform/archive/lines";
import { archiveNameOf, type ArchiveStore } from "@pawl/platform/archive/store";
import { probe } from "@pawl/platform/lifecycle/probe";
import { readHead } from "@pawl/platform/store/archive/reads";
import { METRICS } from "@pawl/platform/telemetry/catalogue";
import type { Logger } from "@pawl/platform/telemetry/log";

/** Runs that are read and written at the same time. Each takes a connection of the pool, and commands need the others. */
const AT_ONCE = 3;

export interface ArchiveParts extends Pick<LineSources, "blobs"> {
  readonly archive: ArchiveStore;
  readonly log: Logger;
}

interface ArchivedRun {
  readonly runId: RunId;
  /** Changes when the run does. */
  readonly stamp: string;
}

/** Writes runs to the archive. Returns those that retention may remove: they are there whole, or temporary. A failure is in the log. */
export async function archiveRuns(
  sources: LineSources & ArchiveParts,
  runIds: readonly RunId[],
): Promise<readonly ArchivedRun[]> {
  const archived: ArchivedRun[] = [];
  const waiting = runIds.values();
  const work = async (): Promise<void> => {
    for (const runId of waiting) {
      const written = await archiveRun(sources, runId);
      if (written !== undefined) archived.push(written);
    }
  };
  await Promise.all(Array.from({ length: AT_ONCE }, work));
  return archived;
}

async function archiveRun(
  { archive, log, ...sources }: LineSources & ArchiveParts,
  runId: RunId,
): Promise<ArchivedRun | undefined> {
  try {
    const head = await readHead(sources.db, { tenantId: DEFAULT_TENANT, runId });
    if (head === undefined) return undefined;
    // It leaves nothing behind.
    if (head.isTemporary) return { runId, stamp: head.stamp };
    await archive.write(archiveNameOf(runId), compressed(archiveLines(sources, runId, head)));
    METRICS.runsArchived.add(1, { outcome: "written" });
    return { runId, stamp: head.stamp };
  } catch (error) {
    METRICS.runsArchived.add(1, { outcome: "failed" });
    log.error({ run_id: runId, err: error }, "a run was not archived, so it is not removed");
    return undefined;
  } finally {
    probe("archive.after-write");
  }
}
