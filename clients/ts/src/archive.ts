// The archive: runs that retention wrote to files, and runs as files.

import type { Client } from "@connectrpc/connect";
import type {
  ArchivedRun,
  ArchiveService,
  RestoreRunResponse,
} from "@pawl/proto/pawl/v1/archive_service_pb";
import {
  type Caller,
  identified,
  type MutationOptions,
  type Page,
  type PageOptions,
  type PawlCallOptions,
  pick,
} from "./caller.ts";
import { pawlErrorFrom } from "./errors.ts";

export interface ListArchivedOptions extends PageOptions {
  /** Only runs that began in this month, by UTC, such as 2026-06. */
  readonly month?: string | undefined;
  /** A filter as for runs, without `input` and `is_live`. */
  readonly filter?: string | undefined;
}

export type ArchivedPage = Page<"archivedRuns", ArchivedRun>;

export interface Archive {
  /** A page of archived runs, oldest first. With a filter it may be empty, and still not be the last. @throws PawlError FILTER_INVALID */
  list(options?: ListArchivedOptions): Promise<ArchivedPage>;
  /** Reads and checks the whole file of a run. @throws PawlError ARCHIVED_RUN_NOT_FOUND, ARCHIVE_INVALID */
  get(runId: string, options?: PawlCallOptions): Promise<ArchivedRun>;
  /** The file of an archived run, in pieces: lines of JSON. @throws PawlError ARCHIVED_RUN_NOT_FOUND, ARCHIVE_INVALID */
  read(runId: string, options?: PawlCallOptions): AsyncGenerator<Uint8Array, void>;
  /** A run of the database in the same form, also one that has not ended. @throws PawlError RUN_NOT_FOUND */
  exportRun(runId: string, options?: PawlCallOptions): AsyncGenerator<Uint8Array, void>;
  /** Puts a run and its child runs back. A repeat is harmless. @throws PawlError ARCHIVED_RUN_NOT_FOUND, ARCHIVE_INVALID, ARCHIVE_CONFLICT */
  restore(runId: string, options?: MutationOptions): Promise<RestoreRunResponse>;
}

export const createArchive = (rpc: Client<typeof ArchiveService>, call: Caller): Archive => ({
  list: (options = {}) => call(rpc.listArchivedRuns, options),
  get: (runId, options) => pick(call(rpc.getArchivedRun, { ...options, runId }), "archivedRun"),
  read: (runId, options) => pieces(rpc.readArchivedRun({ runId }, signalOf(options))),
  exportRun: (runId, options) => pieces(rpc.exportRun({ runId }, signalOf(options))),
  restore: (runId, options) => call(rpc.restoreRun, { ...identified(options), runId }),
});

const signalOf = ({ signal }: PawlCallOptions = {}) => (signal === undefined ? {} : { signal });

/** A file in pieces. A cut is an error, because the manifest at its end is missing. */
async function* pieces(
  messages: AsyncIterable<{ readonly data: Uint8Array }>,
): AsyncGenerator<Uint8Array, void> {
  try {
    for await (const { data } of messages) yield data;
  } catch (error) {
    throw pawlErrorFrom(error);
  }
}
