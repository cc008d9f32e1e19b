// Proves that a gateway of this deployment made a token. All gateways read the same key from the database, when they first need it and
// again after a failure.

import { createHmac, timingSafeEqual } from "node:crypto";

export const SEAL_BYTES = 16;

export class Seal {
  readonly #readKey: () => Promise<Buffer>;
  #key: Promise<Buffer> | undefined;

  constructor(readKey: () => Promise<Buffer>) {
    this.#readKey = readKey;
  }

  /** The seal of some bytes. @throws STORE_UNAVAILABLE */
  async of(bytes: Uint8Array): Promise<Buffer> {
    this.#key ??= this.#readKey();
    try {
      const key = await this.#key;
      return createHmac("sha256", key).update(bytes).digest().subarray(0, SEAL_BYTES);
    } catch (error) {
      this.#key = undefined;
      throw error;
    }
  }

  /** Whether a gateway made this seal of the bytes. @throws STORE_UNAVAILABLE */
  async holds(seal: Uint8Array, bytes: Uint8Array): Promise<boolean> {
    return seal.length === SEAL_BYTES && timingSafeEqual(seal, await this.of(bytes));
  }
}
