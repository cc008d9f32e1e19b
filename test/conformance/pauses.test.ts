// Pauses on both stores.

import { openMemory } from "./memory.ts";
import { pauseSuite } from "./pauses.ts";
import { openPostgres } from "./postgres.ts";

pauseSuite("memory", openMemory);
pauseSuite("Postgres", openPostgres);
