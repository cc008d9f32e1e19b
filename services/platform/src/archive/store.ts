// A store of archived runs: objects under names in the order of the runs. An object is whole or absent, so readers never see a part of one.

import { isUuid } from "@pawl/core/name/ids";

interface NameQuery {
  /** What the names begin with: a month, a day, or nothing. */
  readonly prefix: string;
  /** The place behind which the page begins; empty for the first page. */
  readonly after: string;
  readonly limit: number;
}

/** What a gateway does with a store. */
export interface ArchiveReads {
  /** The bytes of an object, or its first `bytesMax`. Undefined if there is none. */
  read(name: string, bytesMax?: number): Promise<AsyncIterable<Buffer> | undefined>;
  /** Names in order. */
  list(query: NameQuery): Promise<readonly string[]>;
}

export interface ArchiveStore extends ArchiveReads {
  /** Stores an object. It replaces the one of this name. After a failure, the object is the one from before. */
  write(name: string, data: AsyncIterable<Buffer>): Promise<void>;
  /** Rejects if the store cannot work. The message says what to do. */
  check(): Promise<void>;
}

const END = ".ndjson.gz";
const NAME = /^\d{4}-\d{2}\/\d{2}\/\d{2}\/([0-9a-f-]{36})\.ndjson\.gz$/;

/** When a run began: the first 48 bits of its id are milliseconds. */
export const timeOfRunId = (runId: string): Date =>
  new Date(Number.parseInt(runId.slice(0, 8) + runId.slice(9, 13), 16));

/**
 * The name of the object of a run: the month, the day and the hour at which it began, in UTC, and its id. The id has the time, so the name
 * follows from the id alone, and names in order are runs in order. A folder has the runs of an hour.
 */
export function archiveNameOf(runId: string): string {
  const time = timeOfRunId(runId).toISOString();
  return `${time.slice(0, 7)}/${time.slice(8, 10)}/${time.slice(11, 13)}/${runId}${END}`;
}

/** The run of a name. Undefined for an object that is not ours. */
export function runIdOfName(name: string): string | undefined {
  const [, runId = ""] = NAME.exec(name) ?? [];
  return isUuid(runId) && archiveNameOf(runId) === name ? runId : undefined;
}
