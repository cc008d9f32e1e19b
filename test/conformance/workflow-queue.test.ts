// The promises of the workflow queue on both kinds.

import { workflowQueueSuite } from "./workflow-queue.ts";
import { openBossQueue, openMemoryQueue } from "./workflow-queue-open.ts";

workflowQueueSuite("memory", openMemoryQueue);
workflowQueueSuite("Postgres", openBossQueue);
