// Keys that a migration made, once for all processes of a deployment.

import { EngineError } from "@pawl/core/fault/engine-error";
import { type Queryable, run } from "../db/sql.ts";
import { readSecretRow } from "./statements/read-secret.ts";

/** What a gateway authenticates page tokens with. */
export type SecretName = "page_tokens";

/** The key of that name. @throws STORE_UNAVAILABLE */
export async function readSecret(db: Queryable, name: SecretName): Promise<Buffer> {
  const [row] = await run<{ readonly value: Buffer }>(db, readSecretRow, [name]);
  if (row !== undefined) return row.value;
  throw new EngineError("STORE_UNAVAILABLE", "The database schema is not current.");
}
