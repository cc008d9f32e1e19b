// Reads keys that a migration made once for all processes of a deployment.

import { EngineError } from "@pawl/core/fault/engine-error";
import { bytes, text } from "./columns.ts";
import { first, queriesBeside, type Queryable } from "./query.ts";

/** `page_tokens` is the key with which a gateway authenticates page tokens and cursors of threads. */
type SecretName = "page_tokens";

const one = queriesBeside(import.meta.url)(
  "secret",
  { name: text<SecretName>() },
  { value: bytes() },
);

/** The key of that name. @throws STORE_UNAVAILABLE */
export async function readSecret(db: Queryable, name: SecretName): Promise<Buffer> {
  const row = await first(db, one, { name });
  if (row !== undefined) return row.value;
  throw new EngineError("STORE_UNAVAILABLE", "The database schema is not current.");
}
