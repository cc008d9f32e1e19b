// The journal's promises on both stores.

import { journalSuite } from "./journal.ts";
import { turnSuite } from "./journal-threads.ts";
import { openMemory } from "./memory.ts";
import { postgresWith } from "./postgres.ts";
import { removalSuite } from "./removals.ts";

const openPostgres = postgresWith();

journalSuite("memory", openMemory);
journalSuite("Postgres", openPostgres);
// Gateways read turns, and logs go in pages: the memory store has neither.
turnSuite(openPostgres);
removalSuite(openPostgres);
