// ArchiveService at the gateway: the archive and the database read here, restores forwarded. No client needs the credentials of the store.

import { create } from "@bufbuild/protobuf";
import type { ServiceImpl } from "@connectrpc/connect";
import type { RunId } from "@pawl/core/name/ids";
import { DEFAULT_TENANT } from "@pawl/core/name/tenant";
import { archivedRunNotFound, archiveFault, archiveOf } from "@pawl/platform/archive/errors";
import {
  archiveLines,
  type ReadRecord,
  readRecords,
  type RunHead,
} from "@pawl/platform/archive/lines";
import { archiveNameOf, type ArchiveReads } from "@pawl/platform/archive/store";
import { readHead } from "@pawl/platform/store/archive/reads";
import { parseListArchived, parseRestore, toWireArchivedRun } from "@pawl/platform/wire/archive";
import { runIdOf } from "@pawl/platform/wire/fields";
import { runNotFound } from "@pawl/platform/wire/run";
import {
  type ArchiveService,
  ExportRunResponseSchema,
  GetArchivedRunResponseSchema,
  ListArchivedRunsResponseSchema,
  ReadArchivedRunResponseSchema,
} from "@pawl/proto/pawl/v1/archive_service_pb";
import { listArchived } from "../read/archived-runs.ts";
import { forwarded } from "../request/forward.ts";
import type { ServiceParts } from "./service-parts.ts";

/** Bytes of one message of a file. */
const PIECE_BYTES = 256 * 1024;

export const createArchiveService = (parts: ServiceParts): ServiceImpl<typeof ArchiveService> => {
  const { archive, pool, blobs, pages, scheduler } = parts;
  return {
    listArchivedRuns: async (request) => {
      const [store, asked] = [archiveOf(archive), parseListArchived(request)];
      const { rows, nextPageToken } = await pages.page(request, (page) =>
        listArchived(store, asked, page).catch((error: unknown) => {
          throw archiveFault(error);
        }),
      );
      const archivedRuns = rows.map((head) => toWireArchivedRun(head));
      return create(ListArchivedRunsResponseSchema, { archivedRuns, nextPageToken });
    },
    getArchivedRun: async (request) => {
      const [store, runId] = [archiveOf(archive), runIdOf(request.runId)];
      return create(GetArchivedRunResponseSchema, { archivedRun: await checked(store, runId) });
    },
    async *readArchivedRun(request) {
      const [store, runId] = [archiveOf(archive), runIdOf(request.runId)];
      const lines = (async function* () {
        for await (const { text } of recordsOf(store, runId)) yield `${text}\n`;
      })();
      for await (const data of inPieces(lines))
        yield create(ReadArchivedRunResponseSchema, { data });
    },
    async *exportRun(request) {
      const runId = runIdOf(request.runId);
      const head = await readHead(pool, { tenantId: DEFAULT_TENANT, runId });
      if (head === undefined) throw runNotFound(runId);
      const lines = archiveLines({ db: pool, blobs }, runId, head);
      for await (const data of inPieces(lines)) yield create(ExportRunResponseSchema, { data });
    },
    restoreRun: forwarded(scheduler.archive.restoreRun, parseRestore),
  };
};

/** The records of a file, each checked. @throws ARCHIVED_RUN_NOT_FOUND, ARCHIVE_INVALID, STORE_UNAVAILABLE */
async function* recordsOf(store: ArchiveReads, runId: RunId): AsyncGenerator<ReadRecord> {
  try {
    const object = await store.read(archiveNameOf(runId));
    if (object === undefined) throw archivedRunNotFound(runId);
    yield* readRecords(runId, object);
  } catch (error) {
    throw archiveFault(error);
  }
}

/** Reads a whole file, and says what it has. */
async function checked(store: ArchiveReads, runId: RunId) {
  let head: RunHead | undefined;
  for await (const { record } of recordsOf(store, runId)) {
    if (record.record === "run") head = { run: record, metadata: undefined };
    if (record.record === "metadata" && head !== undefined)
      head = { run: head.run, metadata: record.metadata };
    if (record.record === "manifest" && head !== undefined) return toWireArchivedRun(head, record);
  }
  // `readRecords` throws before a file without a manifest ends.
  throw archivedRunNotFound(runId);
}

/** Texts as bytes, in pieces of about one size. */
async function* inPieces(texts: AsyncIterable<string>): AsyncGenerator<Buffer> {
  let held: Buffer[] = [];
  let size = 0;
  for await (const text of texts) {
    const bytes = Buffer.from(text);
    for (let from = 0; from < bytes.length;) {
      const piece = bytes.subarray(from, from + PIECE_BYTES - size);
      held.push(piece);
      size += piece.length;
      from += piece.length;
      if (size < PIECE_BYTES) continue;
      yield Buffer.concat(held);
      [held, size] = [[], 0];
    }
  }
  if (size > 0) yield Buffer.concat(held);
}
