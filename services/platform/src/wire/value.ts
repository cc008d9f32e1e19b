// JSON text as a google.protobuf.Value, bounded. A Value of many small numbers is six times as long as its text. Readers in many languages
// refuse messages nested deeper than a hundred levels, and a JSON object takes three.

import { type ListValue, NullValue, type Struct, type Value } from "@bufbuild/protobuf/wkt";
import { LIMITS } from "@pawl/core/data/limits";

/** A Value and an upper bound of its size on the wire, in binary or as JSON. */
interface MadeValue {
  readonly value: Value;
  readonly bytes: number;
}

/** Undefined for text that is not JSON, is larger than `room`, is nested too deeply, or holds a number beyond doubles. */
export function toValue(text: string, room: number): MadeValue | undefined {
  if (text.length > room) return undefined;
  try {
    const making = new Making(room);
    const value = making.make(JSON.parse(text), 0);
    return { value, bytes: Math.max(making.bytes, Buffer.byteLength(text)) };
  } catch (error) {
    if (error instanceof SyntaxError || error instanceof RangeError) return undefined;
    throw error;
  }
}

/** Tag and length of a field, at most: lengths are below 2 MiB. */
const FIELD = 4;

class Making {
  readonly #room: number;
  bytes = 0;

  constructor(room: number) {
    this.#room = room;
  }

  /** @throws RangeError if it does not fit */
  make(json: unknown, depth: number): Value {
    this.#take(2 * FIELD);
    return { $typeName: "google.protobuf.Value", kind: this.#kind(json, depth) };
  }

  #kind(json: unknown, depth: number): Value["kind"] {
    if (json === null) return { case: "nullValue", value: NullValue.NULL_VALUE };
    if (typeof json === "boolean") return { case: "boolValue", value: json };
    if (typeof json === "string") {
      this.#take(Buffer.byteLength(json));
      return { case: "stringValue", value: json };
    }
    if (typeof json === "number") {
      if (!Number.isFinite(json)) throw new RangeError("no double");
      this.#take(8);
      return { case: "numberValue", value: json };
    }
    if (depth === LIMITS.readableDepth) throw new RangeError("nested too deeply");
    if (Array.isArray(json)) return { case: "listValue", value: this.#list(json, depth + 1) };
    // JSON.parse returns no other types.
    return { case: "structValue", value: this.#struct(json as object, depth + 1) };
  }

  #list(items: readonly unknown[], depth: number): ListValue {
    return {
      $typeName: "google.protobuf.ListValue",
      values: items.map((item) => this.make(item, depth)),
    };
  }

  #struct(object: object, depth: number): Struct {
    // `fromEntries` makes a field of every key, even of __proto__.
    const fields = Object.fromEntries(
      Object.entries(object).map(([key, item]) => {
        this.#take(2 * FIELD + Buffer.byteLength(key));
        return [key, this.make(item, depth)];
      }),
    );
    return { $typeName: "google.protobuf.Struct", fields };
  }

  #take(bytes: number): void {
    this.bytes += bytes;
    if (this.bytes > this.#room) throw new RangeError("too large");
  }
}
