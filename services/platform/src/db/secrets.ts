// Reads keys that a migration made, once for all processes of a deployment.

import { EngineError } from "@pawl/core/fault/engine-error";
import { bytes, text } from "./columns.ts";
import { queriesBeside, run } from "./query.ts";
import type { Queryable } from "./sql.ts";

/** `page_tokens`: a gateway authenticates page tokens with it. */
export type SecretName = "page_tokens";

const one = queriesBeside(import.meta.url)(
  "secret",
  { name: text<SecretName>() },
  { value: bytes() },
);

/** The key of that name. @throws STORE_UNAVAILABLE */
export async function readSecret(db: Queryable, name: SecretName): Promise<Buffer> {
  const [row] = await run(db, one, { name });
  if (row !== undefined) return row.value;
  throw new EngineError("STORE_UNAVAILABLE", "The database schema is not current.");
}
