// Pauses and resumes workflows. The row is the truth: from its commit on every start begins as the workflow stands. The runs that were
// there follow before the answer is given, or by themselves where there are too many of them to wait for.

import { setTimeout as wait } from "node:timers/promises";
import { LIMITS } from "@pawl/core/data/limits";
import { probe } from "@pawl/platform/lifecycle/probe";
import type { PauseKey, PauseRecord, PauseWords } from "@pawl/platform/store/pauses/pauses";
import type { Logger } from "@pawl/platform/telemetry/log";
import { requestIdOf } from "@pawl/platform/wire/request-id";
import type { KnownPauses } from "../commit/known-pauses.ts";
import { cleanText } from "../sessions/wire.ts";
import { type FollowParts, followPause } from "./follow-pause.ts";
import type { AdmitParts } from "./parts.ts";
import { workflowIdOf } from "./request.ts";
import { workflowNotFound } from "./start-run.ts";

/** How long an answer waits for the runs; well within what a caller allows a call. */
const ANSWER_MS = 10_000;

export interface PauseParts extends AdmitParts, FollowParts {
  readonly known: KnownPauses;
  readonly log: Logger;
}

interface PauseWorkflowRequest {
  readonly workflowId: string;
  readonly by: string;
  readonly reason: string;
  readonly requestId: string;
}

/** Holds a workflow. @throws WORKFLOW_NOT_FOUND, INPUT_INVALID, STORE_UNAVAILABLE */
export async function pauseWorkflow(
  parts: PauseParts,
  tenantId: string,
  request: PauseWorkflowRequest,
): Promise<PauseRecord> {
  const key = keyOf(tenantId, request);
  await insistOnWorkflow(parts, key);
  const pause = await parts.pauses.pause(key, pauseWordsOf(request));
  probe("pause.recorded");
  await parts.known.reload();
  if (pause.state !== "pausing") return pause;
  return (await follows(parts, pause)) ? { ...pause, state: "paused" } : pause;
}

/** Lets a workflow go. What is given is still on its way; undefined when all has gone on. @throws WORKFLOW_NOT_FOUND, INPUT_INVALID, STORE_UNAVAILABLE */
export async function resumeWorkflow(
  parts: PauseParts,
  tenantId: string,
  request: PauseWorkflowRequest,
): Promise<PauseRecord | undefined> {
  const key = keyOf(tenantId, request);
  const pause = await parts.pauses.resume(key, pauseWordsOf(request));
  probe("resume.recorded");
  // The runs of a workflow that was deleted meanwhile go on as well.
  if (pause === undefined) await insistOnWorkflow(parts, key);
  await parts.known.reload();
  if (pause?.state !== "resuming") return undefined;
  return (await follows(parts, pause)) ? undefined : pause;
}

/** By whom and why, each as one line of text. */
export const pauseWordsOf = ({ by, reason }: PauseWords): PauseWords => ({
  by: cleanText(by, LIMITS.labelLength),
  reason: cleanText(reason, LIMITS.labelLength),
});

function keyOf(tenantId: string, request: PauseWorkflowRequest): PauseKey {
  requestIdOf(request.requestId);
  return { scope: "workflow", tenantId, name: workflowIdOf(request.workflowId) };
}

async function insistOnWorkflow({ workflows }: AdmitParts, { tenantId, name }: PauseKey) {
  const found = await workflows.find(tenantId, name, 0);
  if (found === undefined) throw workflowNotFound(name, 0);
}

/** Whether all runs have followed in time; the sweep of pauses goes on with what fails, and this process with what takes long. */
async function follows(parts: PauseParts, pause: PauseRecord): Promise<boolean> {
  const timer = new AbortController();
  const following = followPause(parts, pause).catch((error: unknown) => {
    parts.log.warn({ err: error, workflow_id: pause.name }, "a pause is gone on with later");
    return false;
  });
  try {
    const late = wait(ANSWER_MS, false, { signal: timer.signal }).catch(() => false);
    return await Promise.race([following, late]);
  } finally {
    timer.abort();
  }
}
