// Runs one statement over the extended protocol and reads it in pages. So an endless query costs one page beyond the limit. The extended
// protocol accepts a single statement: the server itself refuses a text with several.

import type { Submittable } from "pg";
import { decoderOf } from "./row-values.ts";

/** The part of the driver's connection that a statement needs. The driver's types leave it out. */
interface Wire {
  parse(query: { readonly text: string }): void;
  bind(config: { readonly values: readonly (string | null)[] }): void;
  describe(target: { readonly type: "P" }): void;
  execute(config: { readonly rows: number }): void;
  flush(): void;
  sync(): void;
  sendCopyFail(message: string): void;
}

interface Field {
  readonly name: string;
  readonly dataTypeID: number;
}

export interface PagedResult {
  readonly fields: readonly string[];
  readonly rows: readonly (readonly unknown[])[];
  /** The number of returned rows, or of changed rows if the statement returns none. */
  readonly rowCount: number;
  /** The statement has more rows than the limit. */
  readonly truncated: boolean;
  /** The rows exceed the byte limit, so they are not complete. */
  readonly isTooLarge: boolean;
}

const PAGE_ROWS = 100;

export class PagedQuery implements Submittable {
  readonly done: Promise<PagedResult>;
  readonly #settle = Promise.withResolvers<PagedResult>();
  readonly #statement: { readonly text: string; readonly values: readonly (string | null)[] };
  readonly #rowsMax: number;
  readonly #bytesMax: number;
  #fields: readonly Field[] = [];
  #decoders: readonly ((text: string) => unknown)[] = [];
  #rows: unknown[][] = [];
  #bytes = 0;
  #changed = 0;
  #isTruncated = false;
  #failure: unknown;

  constructor(
    statement: { readonly text: string; readonly values: readonly (string | null)[] },
    limits: { readonly rowsMax: number; readonly bytesMax: number },
  ) {
    this.#statement = statement;
    this.#rowsMax = limits.rowsMax;
    this.#bytesMax = limits.bytesMax;
    this.done = this.#settle.promise;
  }

  // The driver passes its connection under a type that hides the protocol's messages.
  readonly submit = (connection: unknown): void => {
    const wire = connection as Wire;
    wire.parse({ text: this.#statement.text });
    wire.bind({ values: this.#statement.values });
    wire.describe({ type: "P" });
    this.#fetch(wire);
  };

  handleRowDescription({ fields }: { readonly fields: readonly Field[] }): void {
    this.#fields = fields;
    this.#decoders = fields.map((field) => decoderOf(field.dataTypeID));
  }

  handleDataRow({ fields }: { readonly fields: readonly (string | null)[] }): void {
    for (const text of fields) this.#bytes += text?.length ?? 0;
    if (this.#isTooLarge || this.#failure !== undefined) return;
    if (this.#rows.length >= this.#rowsMax) {
      this.#isTruncated = true;
      return;
    }
    try {
      this.#rows.push(
        fields.map((text, column) => (text === null ? null : this.#decoders[column]?.(text))),
      );
    } catch (error) {
      this.#failure = error;
    }
  }

  /** A page has arrived, and there may be more. */
  handlePortalSuspended(wire: Wire): void {
    if (this.#isTruncated || this.#isTooLarge || this.#failure !== undefined) wire.sync();
    else this.#fetch(wire);
  }

  handleCommandComplete({ text }: { readonly text: string }, wire: Wire): void {
    this.#changed = Number(/ (\d+)$/.exec(text)?.[1] ?? 0);
    wire.sync();
  }

  handleEmptyQuery(wire: Wire): void {
    wire.sync();
  }

  handleCopyInResponse(wire: Wire): void {
    wire.sendCopyFail("copy is not served");
  }

  handleCopyData(): void {
    // The rows of a COPY are not result rows. They are ignored.
  }

  handleError(error: unknown, wire: Wire): void {
    // Until a sync the server ignores everything else on this connection.
    wire.sync();
    this.#settle.reject(error);
  }

  handleReadyForQuery(): void {
    if (this.#failure !== undefined) return this.#settle.reject(this.#failure);
    this.#settle.resolve({
      fields: this.#fields.map((field) => field.name),
      rows: this.#rows,
      rowCount: this.#fields.length === 0 ? this.#changed : this.#rows.length,
      truncated: this.#isTruncated,
      isTooLarge: this.#isTooLarge,
    });
  }

  get #isTooLarge(): boolean {
    return this.#bytes > this.#bytesMax;
  }

  /** One row beyond the limit shows that there are more. */
  #fetch(wire: Wire): void {
    wire.execute({ rows: Math.min(PAGE_ROWS, this.#rowsMax + 1 - this.#rows.length) });
    wire.flush();
  }
}
