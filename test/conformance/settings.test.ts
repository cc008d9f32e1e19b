// The promises of the store do not depend on the plans of its connections, nor on the names of its schemas.

import { journalSuite } from "./journal.ts";
import { pauseSuite } from "./pauses.ts";
import { postgresWith } from "./postgres.ts";

const free = postgresWith({ hasFreePlans: true });
journalSuite("Postgres with free plans", free);
pauseSuite("Postgres with free plans", free);

const elsewhere = postgresWith({ schemas: { engine: "engine_b", queue: "queue_b" } });
journalSuite("Postgres with other schemas", elsewhere);
