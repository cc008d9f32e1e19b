// Recovery on both stores.

import { openMemory } from "./memory.ts";
import { postgresWith } from "./postgres.ts";
import { recoverySuite } from "./recovery.ts";

const openPostgres = postgresWith();

recoverySuite("memory", openMemory);
recoverySuite("Postgres", openPostgres);
