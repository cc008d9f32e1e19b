// What a store has for the archive: the record of a run as lines of JSON, and a run put back from such lines. The lines are those of
// `services/core/src/archive/record.ts`.
//
// Race: two users restore one run at the same time. A lock of the transaction lets one of them write; the other one then finds the run.
// Race: retention removes the log of a run while a user restores it. Retention deletes no events of a run that has a row, and the restore
// deletes the events that a removed run left behind. Race: a month is dropped while a run of it comes back. The restore holds the lock of
// writers on the log, and it writes the row of the run last.

import type { RunId } from "@pawl/core/name/ids";
import { flag, number, text } from "../../db/columns.ts";
import type { Typed } from "../../db/query.ts";
import { STORED_VALUE } from "../values/values.ts";

export const ARCHIVE_HEAD = { line: text(), lastSeq: number(), isTemporary: flag(), stamp: text() };
/** The line of a run, its last seq, whether it leaves nothing behind, and a text that changes with the run and its dead letters. */
export type ArchiveHead = Typed<typeof ARCHIVE_HEAD>;

export const NAMED_VALUE = { sha256: text(), ...STORED_VALUE };
export type NamedValue = Typed<typeof NAMED_VALUE>;

/** Lines of records of which a run has any number, that one statement writes. */
export const MANY_RECORDS = ["effect", "approval", "dead_letter", "event"] as const;
type Many = (typeof MANY_RECORDS)[number];
export const ONE_RECORDS = ["metadata", "request", "repair", "thread", "graph"] as const;
type One = (typeof ONE_RECORDS)[number];

/** Lines of one kind, in the order of the file. */
export interface RestoredLines {
  readonly record: One | Many;
  readonly lines: readonly string[];
}

/** A run to put back. */
export interface RestoredRun {
  readonly tenantId: string;
  readonly runId: RunId;
  /** The line of the run. */
  readonly line: string;
  /** The digests of the stored values that its events name. They are stored by now. */
  readonly values: readonly string[];
  /** Everything else, again from its beginning at each call: the transaction may be tried twice. */
  readonly rest: () => AsyncIterable<RestoredLines>;
}

/** `present`: the database has the run. `graph`: it has another graph of the workflow version. */
export type Restoration = "restored" | "present" | "graph";

export interface Archive {
  /** Puts a run back, whole or not at all. @throws STORE_UNAVAILABLE, and what `rest` throws */
  restore(run: RestoredRun): Promise<Restoration>;
}
