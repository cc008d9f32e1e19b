// The promises about schedules on both stores.

import { openMemory } from "./memory.ts";
import { openPostgres } from "./postgres.ts";
import { schedulesSuite } from "./schedules.ts";

schedulesSuite("memory", openMemory);
schedulesSuite("Postgres", openPostgres);
