// The effect ledger: what a run did to the outside world, as far as its executors reported.

/** An effect as its row has it. Times are milliseconds since the epoch. */
export interface EffectRecord {
  readonly nodeId: string;
  readonly iteration: number;
  readonly name: string;
  readonly class: string;
  /** The attempt that began it; 0 when the log does not say. */
  readonly attempt: number;
  readonly begunEpoch: number;
  /** Null while its result is not known. */
  readonly committedEpoch: number | null;
  readonly begunAt: number;
  readonly committedAt: number | null;
}

export interface EffectPage {
  readonly effects: readonly EffectRecord[];
  /** Empty on the last page. */
  readonly nextPageToken: string;
}
