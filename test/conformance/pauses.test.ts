// Pauses on both stores.

import { openMemory } from "./memory.ts";
import { pauseSuite } from "./pauses.ts";
import { postgresWith } from "./postgres.ts";

const openPostgres = postgresWith();

pauseSuite("memory", openMemory);
pauseSuite("Postgres", openPostgres);
