// Puts archived runs back. The file is read to its end and checked before anything is written; then the stored values are written, and then
// the run in one transaction. A kill before the commit leaves no run, and values that a sweep removes. A repeat continues.
//
// Race: two users restore one run. One of them writes it, and the other compares the logs, as for a run that was there before. Race: the
// file is replaced between the check and the write. The digest differs then, and the transaction fails.

import { createHash } from "node:crypto";
import { archiveInvalid } from "@pawl/core/archive/reader";
import { EngineError } from "@pawl/core/fault/engine-error";
import type { RunId } from "@pawl/core/name/ids";
import { archiveFault, archiveOf } from "@pawl/platform/archive/errors";
import { type ArchiveStore, timeOfRunId } from "@pawl/platform/archive/store";
import { failureKind } from "@pawl/platform/db/failure";
import { ensurePartitions } from "@pawl/platform/db/partitions";
import type { Pool } from "@pawl/platform/db/pool";
import { probe } from "@pawl/platform/lifecycle/probe";
import {
  type Archive,
  MANY_RECORDS,
  ONE_RECORDS,
  type RestoredLines,
} from "@pawl/platform/store/archive/archive";
import { readEventLines, readHead } from "@pawl/platform/store/archive/reads";
import { METRICS } from "@pawl/platform/telemetry/catalogue";
import type { ValueStore } from "@pawl/platform/values/value-store";
import type { Definitions } from "../commit/definitions.ts";
import { archivedRecords, checkArchived, type CheckedRun } from "./check-archived.ts";

export interface RestoreParts {
  readonly pool: Pool;
  readonly archive: Archive;
  readonly archiveStore: ArchiveStore | undefined;
  readonly values: ValueStore;
  readonly definitions: Pick<Definitions, "graph">;
}

interface RunKey {
  readonly tenantId: string;
  readonly runId: RunId;
}

interface Restored {
  /** The runs that came back. */
  readonly restored: RunId[];
  /** Child runs that neither the archive nor the database has. */
  readonly missing: RunId[];
}

/**
 * Restores a run and its child runs. Runs that the database has stay as they are.
 * @throws ARCHIVE_NOT_CONFIGURED, ARCHIVED_RUN_NOT_FOUND, ARCHIVE_INVALID, ARCHIVE_CONFLICT, STORE_UNAVAILABLE
 */
export async function restoreRun(
  parts: RestoreParts,
  tenantId: string,
  runId: RunId,
): Promise<Restored> {
  const found: Restored = { restored: [], missing: [] };
  const family = new Set([runId]);
  // A set gives the runs that are added while it is read.
  for (const each of family) {
    const children = await restoreOne(parts, { tenantId, runId: each }, each === runId, found);
    for (const child of children) family.add(child);
  }
  return found;
}

/** Restores one run. Returns its child runs. */
async function restoreOne(
  parts: RestoreParts,
  key: RunKey,
  isFirst: boolean,
  found: Restored,
): Promise<readonly RunId[]> {
  const { runId } = key;
  try {
    const checked = await checkArchived(parts, archiveOf(parts.archiveStore), key);
    if (await write(parts, key, checked)) found.restored.push(runId);
    return checked.children;
  } catch (error) {
    const fault = archiveFault(error);
    if (isFirst || fault.reason !== "ARCHIVED_RUN_NOT_FOUND") throw fault;
    if ((await readHead(parts.pool, key)) === undefined) found.missing.push(runId);
    return [];
  }
}

/** Writes a checked run. False if the database has it. */
async function write(parts: RestoreParts, key: RunKey, checked: CheckedRun): Promise<boolean> {
  const { pool, archive } = parts;
  if (await isPresent(pool, key, checked)) return false;
  if (checked.values.length > 0) await writeValues(parts, key.runId);
  await ensurePartitions(pool, { from: timeOfRunId(key.runId), months: 1 });
  let line = 1;
  const rest = (): AsyncIterable<RestoredLines> =>
    restLines(archiveOf(parts.archiveStore), key.runId, checked, (at) => (line = at));
  try {
    const { line: head, values } = checked;
    const result = await archive.restore({ ...key, line: head, values, rest });
    if (result === "graph") throw conflict(key, "the database has another graph of its version");
    // Another call restored it first, or began to.
    if (result === "present") await isPresent(pool, key, checked);
    else METRICS.runsRestored.add(1);
    return result === "restored";
  } catch (error) {
    const kind = failureKind(error);
    if (kind !== "data" && kind !== "duplicate") throw error;
    throw archiveInvalid(line, "the database refuses a record up to this line", key.runId);
  }
}

/** Whether the database has this run. @throws ARCHIVE_CONFLICT if its log is another one */
async function isPresent(pool: Pool, key: RunKey, { logDigest }: CheckedRun): Promise<boolean> {
  const head = await readHead(pool, key);
  if (head === undefined) return false;
  const digest = createHash("sha256");
  const log = { runId: key.runId, lastSeq: head.lastSeq };
  for await (const page of readEventLines(pool, log))
    for (const { line } of page) digest.update(`${line}\n`);
  if (digest.digest("hex") === logDigest) return true;
  throw conflict(key, "the database has a run of this id with another log");
}

const conflict = ({ runId }: RunKey, why: string): EngineError =>
  new EngineError("ARCHIVE_CONFLICT", `The run ${runId} cannot be restored: ${why}.`, {
    metadata: { run_id: runId },
  });

/** Stores the values of a run. Its events name them later, in the transaction. */
async function writeValues({ values, archiveStore }: RestoreParts, runId: RunId): Promise<void> {
  let writer: Awaited<ReturnType<ValueStore["begin"]>> | undefined;
  for await (const { record } of archivedRecords(archiveOf(archiveStore), runId)) {
    if (record.record !== "value") continue;
    if (record.part === 0) {
      await writer?.end();
      writer = await values.begin(runId, record);
    }
    await writer?.add(Buffer.from(record.data, "base64"));
  }
  await writer?.end();
}

/** Lines that one statement writes, and about how many characters they have. */
const LINES_MAX = 1_000;
const LENGTH_MAX = 1024 * 1024;

const WRITTEN: ReadonlySet<string> = new Set([...MANY_RECORDS, ...ONE_RECORDS]);

/** The lines of a file that become rows, some of one kind at a time. */
async function* restLines(
  archive: ArchiveStore,
  runId: RunId,
  checked: CheckedRun,
  onLine: (line: number) => void,
): AsyncGenerator<RestoredLines> {
  let lines: string[] = [];
  let length = 0;
  let kind = "";
  const held = (): RestoredLines[] =>
    lines.length === 0 ? [] : [{ record: kind as RestoredLines["record"], lines }];
  for await (const { record, text, line } of archivedRecords(archive, runId)) {
    if (record.record === "manifest" && record.sha256 !== checked.sha256)
      throw archiveInvalid(line, "the file was replaced while it was read", runId);
    const isFull = lines.length === LINES_MAX || length + text.length > LENGTH_MAX;
    if (record.record !== kind || isFull) {
      yield* held();
      [lines, length, kind] = [[], 0, record.record];
    }
    onLine(line);
    if (!WRITTEN.has(record.record)) continue;
    lines.push(text);
    length += text.length;
  }
  yield* held();
  probe("restore.before-commit");
}
