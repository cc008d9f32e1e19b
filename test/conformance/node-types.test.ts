// The catalogue of node types on both stores.

import { openMemory } from "./memory.ts";
import { nodeTypesSuite } from "./node-types.ts";
import { postgresWith } from "./postgres.ts";

const openPostgres = postgresWith();

nodeTypesSuite("memory", openMemory);
nodeTypesSuite("Postgres", openPostgres);
