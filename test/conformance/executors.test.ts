// The promises about executors on both stores.

import { executorsSuite } from "./executors.ts";
import { openMemory } from "./memory.ts";
import { postgresWith } from "./postgres.ts";

const openPostgres = postgresWith();

executorsSuite("memory", openMemory);
executorsSuite("Postgres", openPostgres);
