// The promises about workflows on both stores.

import { workflowsSuite } from "./workflows.ts";
import { openMemory } from "./memory.ts";
import { postgresWith } from "./postgres.ts";

const openPostgres = postgresWith();

workflowsSuite("memory", openMemory);
workflowsSuite("Postgres", openPostgres);
