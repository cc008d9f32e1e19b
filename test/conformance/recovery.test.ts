// Recovery on both stores.

import { openMemory } from "./memory.ts";
import { openPostgres } from "./postgres.ts";
import { recoverySuite } from "./recovery.ts";

recoverySuite("memory", openMemory);
recoverySuite("Postgres", openPostgres);
