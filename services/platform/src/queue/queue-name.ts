// Where pg-boss keeps its jobs, and under which name: for those who look at the queues without the library.

export const BOSS_SCHEMA = "pgboss";

/** pg-boss's name for the queue of a node type. */
export const queueName = (nodeType: string): string => `node.${nodeType}`;

/** The queue of commands about whole runs. */
export const COMMAND_QUEUE = "commands";
