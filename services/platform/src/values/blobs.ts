// A store of the bytes of values. A value has parts, and the name of each part is unique for ever, because a generation is never used again.
// So a store needs no transactions: it writes a name once, and the rows in PostgreSQL decide which names count.

export interface Blobs {
  /** Stores a part. The same part again changes nothing. */
  write(generation: string, part: number, data: Buffer): Promise<void>;
  /** The part, or undefined if the store does not have it. */
  read(generation: string, part: number): Promise<Buffer | undefined>;
  /** Removes the parts of a value that exist. */
  remove(generation: string, parts: number): Promise<void>;
  /** Rejects if the store cannot work. The message says what to do. */
  check(): Promise<void>;
}
