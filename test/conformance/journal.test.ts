// The journal's promises on both stores.

import { journalSuite } from "./journal.ts";
import { openMemory } from "./memory.ts";
import { openPostgres } from "./postgres.ts";

journalSuite("memory", openMemory);
journalSuite("Postgres", openPostgres);
