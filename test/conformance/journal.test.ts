// The journal's promises on both stores.

import { journalSuite } from "./journal.ts";
import { openMemory } from "./memory.ts";
import { postgresWith } from "./postgres.ts";

const openPostgres = postgresWith();

journalSuite("memory", openMemory);
journalSuite("Postgres", openPostgres);
