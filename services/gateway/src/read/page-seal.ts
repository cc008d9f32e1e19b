// Seals page tokens, so that only a gateway of this deployment can make them. The store binds a token to its list and filter. The seal
// proves that the store made the position inside, so no caller can choose its own position.

import { invalidField } from "@pawl/core/fault/engine-error";
import { pageSizeOf } from "@pawl/platform/wire/fields";
import { type Seal, SEAL_BYTES } from "./seal.ts";

const TOKEN_LENGTH_MAX = 1_024;

export class PageSeal {
  readonly #seal: Seal;

  constructor(seal: Seal) {
    this.#seal = seal;
  }

  /** A page of `list`, with its token sealed. @throws INPUT_INVALID for a token that no gateway of this deployment made */
  async page<Page extends { readonly nextPageToken: string }>(
    { pageSize, pageToken }: { readonly pageSize: number; readonly pageToken: string },
    list: (page: { readonly size: number; readonly token: string }) => Promise<Page>,
  ): Promise<Page> {
    const size = pageSizeOf(pageSize);
    const token = pageToken === "" ? "" : await this.#open(pageToken);
    const page = await list({ size, token });
    if (page.nextPageToken === "") return page;
    return { ...page, nextPageToken: await this.#close(page.nextPageToken) };
  }

  async #close(token: string): Promise<string> {
    const inner = Buffer.from(token, "utf8");
    return Buffer.concat([await this.#seal.of(inner), inner]).toString("base64url");
  }

  async #open(token: string): Promise<string> {
    if (token.length > TOKEN_LENGTH_MAX) throw foreign();
    const bytes = Buffer.from(token, "base64url");
    const [seal, inner] = [bytes.subarray(0, SEAL_BYTES), bytes.subarray(SEAL_BYTES)];
    if (bytes.toString("base64url") !== token) throw foreign();
    if (!(await this.#seal.holds(seal, inner))) throw foreign();
    return inner.toString("utf8");
  }
}

const foreign = (): Error =>
  invalidField("page_token", "BAD_PAGE_TOKEN", "is not a token of this list and filter");
