// Stores large values and reads them. The rows say which values exist, the blobs have the bytes.
//
// A crash at any moment is harmless, because of the order: the row of the value, its parts, then the digests with a reference of the run. Only
// then a commit names the value. A sweep removes what has no named reference after the grace. Two writers of one value write the same bytes
// under the same names.

import { createHash } from "node:crypto";
import { LIMITS } from "@pawl/core/data/limits";
import { extractLarge, type Reference, referencesIn, withValues } from "@pawl/core/data/reference";
import { exceedsUtf8 } from "@pawl/core/data/utf8";
import { EngineError } from "@pawl/core/fault/engine-error";
import type { RunId } from "@pawl/core/name/ids";
import { probe } from "../lifecycle/probe.ts";
import type { StoredValue, ValueRef, ValueRows } from "../store/values/values.ts";
import type { Blobs } from "./blobs.ts";

/** The reference of a JSON text. */
export const referenceOf = (json: string): Reference => ({
  sha256: digestOf(Buffer.from(json)),
  bytes: Buffer.byteLength(json),
});

const digestOf = (data: Uint8Array): string => createHash("sha256").update(data).digest("hex");

/** How many parts a value has. */
export const partsOf = ({ bytes }: { readonly bytes: number }): number =>
  Math.ceil(bytes / LIMITS.storedPartBytes);

/** Cuts the bytes of a value into parts. */
export function* cutParts(data: Buffer): Generator<Buffer> {
  for (let at = 0; at < data.length; at += LIMITS.storedPartBytes)
    yield data.subarray(at, at + LIMITS.storedPartBytes);
}

/** A part of a stored value. */
interface ReadPart {
  readonly data: Buffer;
  /** The size of the whole value. */
  readonly bytes: number;
}

/**
 * One part of a value to which the run refers, checked against its digest.
 * @throws VALUE_NOT_FOUND, VALUE_CORRUPT, STORE_UNAVAILABLE
 */
export async function readPart(
  find: (ref: ValueRef) => Promise<StoredValue | undefined>,
  blobs: Pick<Blobs, "read">,
  { part, ...ref }: ValueRef & { readonly part: number },
): Promise<ReadPart> {
  const metadata = { run_id: ref.runId, sha256: ref.sha256 };
  const value = await find(ref);
  const digest = value?.digests[part];
  if (value === undefined || digest === undefined) {
    const what = value === undefined ? "a value" : `a part ${part} of the value`;
    throw new EngineError(
      "VALUE_NOT_FOUND",
      `no event of the run ${ref.runId} names ${what} with the digest ${ref.sha256}`,
      { metadata },
    );
  }
  const data = await reached(blobs.read(value.generation, part));
  if (data !== undefined && digestOf(data) === digest) return { data, bytes: value.bytes };
  const fault = data === undefined ? "is not in the value store" : "is not what was stored";
  throw new EngineError(
    "VALUE_CORRUPT",
    `part ${part} of the value ${ref.sha256} of the run ${ref.runId} ${fault}`,
    { metadata },
  );
}

/** Makes a failure of a value store one that the caller may retry. @throws STORE_UNAVAILABLE */
async function reached<T>(call: Promise<T>): Promise<T> {
  try {
    return await call;
  } catch (cause) {
    if (cause instanceof EngineError) throw cause;
    const why = cause instanceof Error ? cause.message : String(cause);
    throw new EngineError("STORE_UNAVAILABLE", `the value store failed: ${why}`, { cause });
  }
}

/** A value that arrives in parts. */
interface ValueWriter {
  /** The next part. Every part but the last has `LIMITS.storedPartBytes`. @throws LIMIT_EXCEEDED, STORE_UNAVAILABLE */
  add(part: Uint8Array): Promise<void>;
  /** All parts are there: the run may refer to the value. @throws VALUE_CORRUPT, STORE_UNAVAILABLE */
  end(): Promise<void>;
}

export class ValueStore {
  readonly rows: ValueRows;
  /** A value with more bytes is stored outside of the log. */
  readonly #inlineBytes: number;
  readonly #blobs: Blobs;

  constructor(rows: ValueRows, blobs: Blobs, inlineBytes: number) {
    this.rows = rows;
    this.#blobs = blobs;
    this.#inlineBytes = inlineBytes;
  }

  /** Begins to store a value for a run. @throws LIMIT_EXCEEDED, STORE_UNAVAILABLE */
  async begin(runId: RunId, { sha256, bytes }: Reference): Promise<ValueWriter> {
    if (bytes < 1 || bytes > LIMITS.storedBytes) throw tooLarge(bytes);
    const { generation, isStored } = await this.rows.open({ sha256, bytes });
    const whole = createHash("sha256");
    const digests: string[] = [];
    let left = bytes;
    const add = async (data: Uint8Array): Promise<void> => {
      if (data.length !== Math.min(left, LIMITS.storedPartBytes) || data.length === 0)
        throw new EngineError(
          "INPUT_INVALID",
          `the next part of the value has ${data.length} bytes; it must have ${Math.min(left, LIMITS.storedPartBytes)}`,
        );
      left -= data.length;
      whole.update(data);
      const part = digests.length;
      digests.push(digestOf(data));
      // Bytes that another writer has stored are the same bytes: this writer only proves that it has them too.
      if (!isStored) await reached(this.#blobs.write(generation, part, Buffer.from(data)));
    };
    const end = async (): Promise<void> => {
      const found = whole.digest("hex");
      if (left > 0 || found !== sha256)
        throw new EngineError(
          "VALUE_CORRUPT",
          left > 0
            ? `${left} bytes of the value ${sha256} are missing`
            : `the bytes have the digest ${found}, not ${sha256}`,
        );
      probe("value.before-seal");
      if (!(await this.rows.seal({ runId, sha256 }, { generation, digests })))
        throw new EngineError("STORE_UNAVAILABLE", `the value ${sha256} was removed meanwhile`);
      probe("value.sealed");
    };
    return { add, end };
  }

  /** The text for the log. What is too large for it is stored for the run. @throws LIMIT_EXCEEDED, STORE_UNAVAILABLE */
  async small(runId: RunId, json: string): Promise<string> {
    if (!exceedsUtf8(json, this.#inlineBytes)) return json;
    const taken: { readonly reference: Reference; readonly data: Buffer }[] = [];
    const take = (each: string): Reference => {
      const reference = referenceOf(each);
      taken.push({ reference, data: Buffer.from(each) });
      return reference;
    };
    const made = extractLarge(json, { inlineBytes: this.#inlineBytes, mayBeWhole: true, take });
    for (const { reference, data } of taken) {
      const writer = await this.begin(runId, reference);
      for (const part of cutParts(data)) await writer.add(part);
      await writer.end();
    }
    return made;
  }

  /** The text with every value that it names. @throws VALUE_NOT_FOUND, VALUE_CORRUPT, STORE_UNAVAILABLE */
  async whole(runId: RunId, json: string): Promise<string> {
    const found = new Map<string, string>();
    for (const { sha256, bytes } of referencesIn(json)) {
      const parts: Buffer[] = [];
      for (let part = 0; part < partsOf({ bytes }); part += 1)
        parts.push((await this.readPart({ runId, sha256, part })).data);
      found.set(sha256, Buffer.concat(parts).toString("utf8"));
    }
    return withValues(json, found);
  }

  /** @throws VALUE_NOT_FOUND, VALUE_CORRUPT, STORE_UNAVAILABLE */
  readPart(asked: ValueRef & { readonly part: number }): Promise<ReadPart> {
    return readPart((ref) => this.rows.find(ref), this.#blobs, asked);
  }

  /** Removes what no run refers to since the grace. Returns whether more waits. @throws STORE_UNAVAILABLE */
  async sweep(bounds: { readonly graceMs: number; readonly limit: number }): Promise<boolean> {
    const hasMore = await this.rows.sweep(bounds);
    const garbage = await this.rows.garbage(bounds.limit);
    probe("value.before-remove");
    for (const { generation, parts } of garbage)
      await reached(this.#blobs.remove(generation, parts));
    await this.rows.forget(garbage.map(({ generation }) => generation));
    return hasMore || garbage.length === bounds.limit;
  }
}

const tooLarge = (bytes: number): EngineError =>
  new EngineError(
    "LIMIT_EXCEEDED",
    `a stored value of ${bytes} bytes; at most ${LIMITS.storedBytes}, and at least 1`,
    { metadata: { limit: "storedBytes" } },
  );
