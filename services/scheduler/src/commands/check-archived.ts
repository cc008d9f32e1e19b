// Reads the file of an archived run to its end, before a restore writes anything. It checks the form of every record, the digests, the
// stored values and the fold of the log.

import { createHash } from "node:crypto";
import { ArchivedLog } from "@pawl/core/archive/check";
import { archiveInvalid } from "@pawl/core/archive/reader";
import type { RecordOf } from "@pawl/core/archive/record";
import { LIMITS } from "@pawl/core/data/limits";
import type { Graph } from "@pawl/core/definition/graph";
import { parseSavedDefinition } from "@pawl/core/definition/parse";
import { EngineError } from "@pawl/core/fault/engine-error";
import { definitionId, type RunId, runId as runIdOf } from "@pawl/core/name/ids";
import { archivedRunNotFound } from "@pawl/platform/archive/errors";
import { type ReadRecord, readRecords } from "@pawl/platform/archive/lines";
import { archiveNameOf, type ArchiveStore } from "@pawl/platform/archive/store";
import type { Definitions } from "../commit/definitions.ts";
import { sha256 } from "./digest.ts";

export interface CheckedRun {
  /** The line of the run. */
  readonly line: string;
  /** The digests of its stored values. */
  readonly values: readonly string[];
  readonly children: readonly RunId[];
  /** The digest of the lines of its events. */
  readonly logDigest: string;
  /** The digest in the manifest. */
  readonly sha256: string;
}

/** The records of the file of a run. @throws ARCHIVED_RUN_NOT_FOUND, ARCHIVE_INVALID */
export async function* archivedRecords(
  archive: ArchiveStore,
  runId: RunId,
): AsyncGenerator<ReadRecord> {
  const object = await archive.read(archiveNameOf(runId));
  if (object === undefined) throw archivedRunNotFound(runId);
  yield* readRecords(runId, object);
}

interface CheckParts {
  readonly definitions: Pick<Definitions, "graph">;
}

/** Checks a whole file. @throws ARCHIVED_RUN_NOT_FOUND, ARCHIVE_INVALID, STORE_UNAVAILABLE */
export async function checkArchived(
  { definitions }: CheckParts,
  archive: ArchiveStore,
  { tenantId, runId }: { readonly tenantId: string; readonly runId: RunId },
): Promise<CheckedRun> {
  const logLines = createHash("sha256");
  const values = new ValueChecks();
  const children: RunId[] = [];
  let head: { readonly run: RecordOf<"run">; readonly text: string } | undefined;
  let graph: Graph | undefined;
  let log: ArchivedLog | undefined;
  for await (const { record, text, line } of archivedRecords(archive, runId)) {
    if (record.record === "run") head = { run: record, text };
    // The reader takes no other record first.
    if (head === undefined) continue;
    const { run } = head;
    if (run.kind === "temporary")
      throw archiveInvalid(1, "a temporary run is never archived", runId);
    if (run.tenant_id !== tenantId) throw archivedRunNotFound(runId);
    if (record.record === "graph") graph = graphOf(run, record, line);
    if (record.record === "child") children.push(runIdOf(record.run_id));
    if (record.record === "value") values.add(record, line, runId);
    if (record.record === "event") {
      if (log === undefined) {
        values.end(line, runId);
        graph ??= await storedGraph(definitions, run);
        log = new ArchivedLog(run, graph, values.digests);
      }
      log.add(record, line);
      logLines.update(`${text}\n`);
    }
    if (record.record !== "manifest") continue;
    if (log === undefined) throw archiveInvalid(line, "the file has no event", runId);
    log.end(line);
    return {
      line: head.text,
      values: [...values.digests],
      children,
      logDigest: logLines.digest("hex"),
      sha256: record.sha256,
    };
  }
  // `readRecords` throws before a file without a manifest ends.
  throw archiveInvalid(1, "the file is empty", runId);
}

function graphOf(run: RecordOf<"run">, record: RecordOf<"graph">, line: number): Graph {
  const parsed = parseSavedDefinition(record.body);
  const isOfRun =
    record.definition_id === run.definition_id &&
    record.workflow_id === run.workflow_id &&
    (record.version ?? 0) === run.workflow_version;
  if (isOfRun && parsed.ok && sha256(record.body) === record.digest) return parsed.graph;
  throw archiveInvalid(line, "the graph is not that of the run", run.run_id);
}

/** The graph in the database, for a file without one. @throws ARCHIVE_INVALID if there is none */
async function storedGraph(
  definitions: CheckParts["definitions"],
  run: RecordOf<"run">,
): Promise<Graph> {
  try {
    return await definitions.graph(definitionId(run.definition_id));
  } catch (error) {
    if (!(error instanceof EngineError) || error.reason !== "EVENT_LOG_CORRUPTION") throw error;
    throw archiveInvalid(1, "neither the file nor the database has its graph", run.run_id);
  }
}

/** Checks the parts of stored values: each value is whole, and its digest is right. */
class ValueChecks {
  readonly digests = new Set<string>();
  #sha256 = "";
  #hash = createHash("sha256");
  #left = 0;
  #part = 0;

  add({ sha256: digest, bytes, part, data }: RecordOf<"value">, line: number, runId: string): void {
    if (part === 0) {
      this.end(line, runId);
      if (this.digests.has(digest)) throw archiveInvalid(line, "a value is there twice", runId);
      if (bytes > LIMITS.storedBytes) throw archiveInvalid(line, "a value is too large", runId);
      [this.#sha256, this.#left, this.#part] = [digest, bytes, 0];
      this.#hash = createHash("sha256");
    }
    const piece = Buffer.from(data, "base64");
    const due = Math.min(this.#left, LIMITS.storedPartBytes);
    if (digest !== this.#sha256 || part !== this.#part || piece.length !== due || due === 0)
      throw archiveInvalid(line, `part ${part} of a value is not possible here`, runId);
    this.#hash.update(piece);
    this.#left -= piece.length;
    this.#part += 1;
  }

  /** Ends the value before. `line` is the line behind it. */
  end(line: number, runId: string): void {
    if (this.#sha256 === "") return;
    if (this.#left > 0 || this.#hash.digest("hex") !== this.#sha256)
      throw archiveInvalid(line, `the value ${this.#sha256} before it is not whole`, runId);
    this.digests.add(this.#sha256);
    this.#sha256 = "";
  }
}
