// Pauses and resumes workflows and queues. The row of the pause decides, because every start and every claim proves the pauses that it was
// decided on. After the commit, every run of a paused workflow begins paused, and no scheduler commits a claim of a paused queue. The
// scheduler pauses the live runs of a workflow before it answers. If the workflow has too many, it continues after the answer. In a paused
// queue, running nodes finish and queued nodes stay queued.

import { setTimeout as wait } from "node:timers/promises";
import { EngineError } from "@pawl/core/fault/engine-error";
import { probe } from "@pawl/platform/lifecycle/probe";
import type { PauseKey, PauseRecord, PauseWords } from "@pawl/platform/store/pauses/pauses";
import type { Logger } from "@pawl/platform/telemetry/log";
import type { KnownPauses } from "../commit/pauses.ts";
import { workflowNotFound } from "../inputs/errors.ts";
import { type FollowParts, followPause } from "./follow-pause.ts";
import type { AdmitParts } from "./parts.ts";

/** How long the answer waits for the runs. It is well within the timeout of a call. */
const ANSWER_MS = 10_000;

export interface PauseParts extends AdmitParts, FollowParts {
  readonly known: KnownPauses;
  readonly log: Logger;
  /** Whether the node type ever had a queue. */
  readonly hasQueue: (nodeType: string) => Promise<boolean>;
}

interface PauseRequest {
  readonly name: string;
  readonly words: PauseWords;
}

/** @throws WORKFLOW_NOT_FOUND, STORE_UNAVAILABLE */
export async function pauseWorkflow(
  parts: PauseParts,
  tenantId: string,
  { name, words }: PauseRequest,
): Promise<PauseRecord> {
  const key: PauseKey = { scope: "workflow", tenantId, name };
  await insistOnWorkflow(parts, key);
  const pause = await parts.pauses.pause(key, words);
  probe("pause.recorded");
  await parts.known.reload();
  if (pause.state !== "pausing") return pause;
  return (await follows(parts, pause)) ? { ...pause, state: "paused" } : pause;
}

/** Resumes a workflow. Returns whether some runs have not resumed yet. @throws WORKFLOW_NOT_FOUND, STORE_UNAVAILABLE */
export async function resumeWorkflow(
  parts: PauseParts,
  tenantId: string,
  { name, words }: PauseRequest,
): Promise<boolean> {
  const key: PauseKey = { scope: "workflow", tenantId, name };
  const pause = await parts.pauses.resume(key, words);
  probe("resume.recorded");
  // The runs of a workflow that was deleted meanwhile resume as well.
  if (pause === undefined) await insistOnWorkflow(parts, key);
  await parts.known.reload();
  return pause?.state === "resuming" && !(await follows(parts, pause));
}

async function insistOnWorkflow({ workflows }: AdmitParts, { tenantId, name }: PauseKey) {
  if ((await workflows.find(tenantId, name, 0)) === undefined) throw workflowNotFound(name);
}

/** Whether all runs have followed in time. This process continues with the other runs. The sweep of pauses repeats those that failed. */
async function follows(parts: PauseParts, pause: PauseRecord): Promise<boolean> {
  const timer = new AbortController();
  const following = followPause(parts, pause).catch((error: unknown) => {
    parts.log.warn({ err: error, workflow_id: pause.name }, "a pause is continued later");
    return false;
  });
  try {
    const late = wait(ANSWER_MS, false, { signal: timer.signal }).catch(() => false);
    return await Promise.race([following, late]);
  } finally {
    timer.abort();
  }
}

/** @throws NODE_TYPE_NOT_FOUND, STORE_UNAVAILABLE */
export async function pauseQueue(
  parts: PauseParts,
  tenantId: string,
  { name, words }: PauseRequest,
): Promise<PauseRecord> {
  await insistOnQueue(parts, name);
  const pause = await parts.pauses.pause({ scope: "queue", tenantId, name }, words);
  await parts.known.reload();
  return pause;
}

/** Resumes a queue. A queue that is not paused stays as it is. @throws NODE_TYPE_NOT_FOUND, STORE_UNAVAILABLE */
export async function resumeQueue(
  parts: PauseParts,
  tenantId: string,
  { name, words }: PauseRequest,
): Promise<void> {
  await insistOnQueue(parts, name);
  await parts.pauses.resume({ scope: "queue", tenantId, name }, words);
  await parts.known.reload();
}

async function insistOnQueue({ hasQueue }: PauseParts, nodeType: string): Promise<void> {
  if (await hasQueue(nodeType)) return;
  throw new EngineError("NODE_TYPE_NOT_FOUND", `There is no node type ${nodeType}.`, {
    metadata: { node_type: nodeType },
  });
}
