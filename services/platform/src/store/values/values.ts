// Values that are too large for the log: which exist, and which runs refer to them. A stored value is JSON text, known by its digest. Its
// bytes are in a store of values (`values/`), in parts.
//
// Races. The log never names a value that does not exist. The row comes first, then the bytes, then a reference of the run. The
// transaction that appends the event turns the reference into a named one. A foreign key makes that transaction fail if a sweep deleted the row. A sweep
// deletes only rows without references that were loose for the whole grace, and every step before the commit starts the grace again.
// Bytes are named by a generation, which is new with each row. So a sweep that removes bytes never hits a row made since.

import type { RunId } from "@pawl/core/name/ids";
import type { ClaimKey } from "../leases/leases.ts";
import { list, number, text, uuid } from "../../db/columns.ts";
import type { Typed } from "../../db/query.ts";

/** A run that refers to a value. */
export const VALUE_REF = { runId: uuid<RunId>(), sha256: text() };
export type ValueRef = Typed<typeof VALUE_REF>;

export const STORED_VALUE = { generation: uuid(), bytes: number(), digests: list(text()) };
/** A stored value. `digests` has the digest of each part. */
export type StoredValue = Typed<typeof STORED_VALUE>;

export const GARBAGE = { generation: uuid(), parts: number() };
/** Bytes that belong to no value. */
type Garbage = Typed<typeof GARBAGE>;

/** A value whose bytes are to be stored. */
interface OpenValue {
  readonly generation: string;
  /** Another writer has stored the bytes already. */
  readonly isStored: boolean;
}

interface SweepBounds {
  readonly graceMs: number;
  readonly limit: number;
}

/** Rows about values, outside of ticks. @throws STORE_UNAVAILABLE */
export interface ValueRows {
  /** The value's row, made if it does not exist. */
  open(value: { readonly sha256: string; readonly bytes: number }): Promise<OpenValue>;
  /** All bytes are stored: the run may refer to the value. False if a sweep has deleted this generation; then open it again. */
  seal(
    ref: ValueRef,
    stored: { readonly generation: string; readonly digests: readonly string[] },
  ): Promise<boolean>;
  /** Keeps the references of a run for a commit that is about to name them. Returns the digests to which the run may refer. */
  touch(runId: RunId, sha256s: readonly string[]): Promise<ReadonlySet<string>>;
  /** The value, if the run refers to it. */
  find(ref: ValueRef): Promise<StoredValue | undefined>;
  hasClaim(claim: Omit<ClaimKey, "executorId">): Promise<boolean>;
  /** Ends what no run and no commit needs any more. Returns whether there may be more. */
  sweep(bounds: SweepBounds): Promise<boolean>;
  garbage(limit: number): Promise<readonly Garbage[]>;
  /** These bytes are removed. */
  forget(generations: readonly string[]): Promise<void>;
}
