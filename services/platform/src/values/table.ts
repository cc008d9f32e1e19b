// The store of values in the database: the default. A backup of the database has every value.

import type { Queryable } from "../db/query.ts";
import { readValuePart } from "../store/values/reads.ts";
import { removeValueParts, writeValuePart } from "../store/values/writes.ts";
import type { Blobs } from "./blobs.ts";

export const tableBlobs = (db: Queryable): Blobs => ({
  write: (generation, part, data) => writeValuePart(db, { generation, part, data }),
  read: (generation, part) => readValuePart(db, generation, part),
  remove: (generation) => removeValueParts(db, generation),
  check: async () => undefined,
});
