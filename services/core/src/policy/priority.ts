// The priority of a job in the queue of its node type. The scheduler queues by it, and ExplainNode counts the jobs ahead by it.

import { LIMITS } from "../data/limits.ts";

/** The sum of both priorities, within the bounds of one. A lower number is sooner. */
export const jobPriority = (runPriority: number, nodePriority: number): number =>
  Math.min(LIMITS.priorityMax, Math.max(-LIMITS.priorityMax, runPriority + nodePriority));
