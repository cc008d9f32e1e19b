// Where pg-boss keeps its jobs, and under which name: for those who look at the queues without the library.

import { createHash } from "node:crypto";
import { BOSS_SCHEMA } from "../db/pool.ts";

/** Where pg-boss notifies of jobs in queues that ask for it; the payload is the queue's name. */
export const BOSS_CHANNEL = `pgboss_${createHash("sha224").update(BOSS_SCHEMA).digest("hex").slice(0, 24)}`;

/** pg-boss's name for the queue of a node type. */
export const queueName = (nodeType: string): string => `node.${nodeType}`;

/** The queue of commands about whole runs. */
export const COMMAND_QUEUE = "commands";
