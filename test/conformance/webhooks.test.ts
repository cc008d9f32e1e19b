// The promises about webhooks on both stores.

import { openMemory } from "./memory.ts";
import { postgresWith } from "./postgres.ts";
import { webhookSuite } from "./webhooks.ts";

const openPostgres = postgresWith();

webhookSuite("memory", openMemory);
webhookSuite("Postgres", openPostgres);
