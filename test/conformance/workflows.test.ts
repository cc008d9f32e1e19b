// The promises about workflows on both stores.

import { workflowsSuite } from "./workflows.ts";
import { openMemory } from "./memory.ts";
import { openPostgres } from "./postgres.ts";

workflowsSuite("memory", openMemory);
workflowsSuite("Postgres", openPostgres);
