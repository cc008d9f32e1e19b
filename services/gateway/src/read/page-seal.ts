// Page tokens that only a gateway of this deployment can make. The store binds a token to its list and filter; the seal around it says that
// the position inside is the store's own, so that no caller reads from a position it made up. All gateways have the same key, from the
// database. It is read when a token is first seen or made, and again after a failure.

import { createHmac, timingSafeEqual } from "node:crypto";
import { invalidField } from "@pawl/core/fault/engine-error";

const SEAL_BYTES = 16;
const TOKEN_LENGTH_MAX = 1_024;

/** Which page of a list. */
export interface PageRequest {
  readonly size: number;
  readonly token: string;
}

export class PageSeal {
  readonly #readKey: () => Promise<Buffer>;
  #key: Promise<Buffer> | undefined;

  constructor(readKey: () => Promise<Buffer>) {
    this.#readKey = readKey;
  }

  /** The same list, its tokens sealed. @throws INPUT_INVALID for a token that no gateway of this deployment made */
  around<About extends readonly unknown[], Page extends { readonly nextPageToken: string }>(
    list: (...asked: [...About, PageRequest]) => Promise<Page>,
  ): (...asked: [...About, PageRequest]) => Promise<Page> {
    return async (...asked) => {
      // The last of them is the page; the types cannot take the tuple apart and keep it.
      const about = asked.slice(0, -1) as unknown as About;
      const { size, token } = asked.at(-1) as PageRequest;
      const opened = token === "" ? "" : await this.#open(token);
      const page = await list(...about, { size, token: opened });
      if (page.nextPageToken === "") return page;
      return { ...page, nextPageToken: await this.#seal(page.nextPageToken) };
    };
  }

  async #seal(token: string): Promise<string> {
    const inner = Buffer.from(token, "utf8");
    return Buffer.concat([await this.#sealOf(inner), inner]).toString("base64url");
  }

  async #open(token: string): Promise<string> {
    if (token.length > TOKEN_LENGTH_MAX) throw foreign();
    const bytes = Buffer.from(token, "base64url");
    const [seal, inner] = [bytes.subarray(0, SEAL_BYTES), bytes.subarray(SEAL_BYTES)];
    if (seal.length < SEAL_BYTES || bytes.toString("base64url") !== token) throw foreign();
    if (!timingSafeEqual(seal, await this.#sealOf(inner))) throw foreign();
    return inner.toString("utf8");
  }

  async #sealOf(inner: Buffer): Promise<Buffer> {
    this.#key ??= this.#readKey();
    try {
      const key = await this.#key;
      return createHmac("sha256", key).update(inner).digest().subarray(0, SEAL_BYTES);
    } catch (error) {
      this.#key = undefined;
      throw error;
    }
  }
}

const foreign = (): Error =>
  invalidField("page_token", "BAD_PAGE_TOKEN", "is not a token of this list and filter");
