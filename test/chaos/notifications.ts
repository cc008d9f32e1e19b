// Splits the bytes of a PostgreSQL server into messages, so that a proxy can drop its notifications and nothing else. A message is a type,
// its length and its body. The server sends messages from the first byte on, since no client here asks for TLS.

const NOTIFICATION = "A".charCodeAt(0);
const TYPE_BYTES = 1;
const LENGTH_BYTES = 4;

/** The server's side of one connection. */
export class ServerMessages {
  #rest: Buffer = Buffer.alloc(0);

  /** The whole messages that are here now, without notifications if those are to be lost, and how many were. */
  take(
    chunk: Buffer,
    losesNotifications: boolean,
  ): { readonly bytes: Buffer; readonly lost: number } {
    this.#rest = Buffer.concat([this.#rest, chunk]);
    const kept: Buffer[] = [];
    let lost = 0;
    while (this.#rest.length >= TYPE_BYTES + LENGTH_BYTES) {
      const length = TYPE_BYTES + this.#rest.readUInt32BE(TYPE_BYTES);
      if (this.#rest.length < length) break;
      if (losesNotifications && this.#rest[0] === NOTIFICATION) lost += 1;
      else kept.push(this.#rest.subarray(0, length));
      this.#rest = this.#rest.subarray(length);
    }
    return { bytes: Buffer.concat(kept), lost };
  }
}
