// The promises about schedules on both stores.

import { openMemory } from "./memory.ts";
import { postgresWith } from "./postgres.ts";
import { schedulesSuite } from "./schedules.ts";

const openPostgres = postgresWith();

schedulesSuite("memory", openMemory);
schedulesSuite("Postgres", openPostgres);
