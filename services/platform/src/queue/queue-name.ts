// Where pg-boss keeps its jobs, and under which name: for those who look at the queues without the library.

import { createHash } from "node:crypto";

/** Where pg-boss with this schema notifies of jobs in queues that ask for it; the payload is the queue's name. */
export const bossChannel = (schema: string): string =>
  `pgboss_${createHash("sha224").update(schema).digest("hex").slice(0, 24)}`;

/** pg-boss's name for the queue of a node type. */
export const queueName = (nodeType: string): string => `node.${nodeType}`;

/** The queue of commands about whole runs. */
export const COMMAND_QUEUE = "commands";
