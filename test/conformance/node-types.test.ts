// The catalogue of node types on both stores.

import { openMemory } from "./memory.ts";
import { nodeTypesSuite } from "./node-types.ts";
import { openPostgres } from "./postgres.ts";

nodeTypesSuite("memory", openMemory);
nodeTypesSuite("Postgres", openPostgres);
