// The promises about executors on both stores.

import { executorsSuite } from "./executors.ts";
import { openMemory } from "./memory.ts";
import { openPostgres } from "./postgres.ts";

executorsSuite("memory", openMemory);
executorsSuite("Postgres", openPostgres);
