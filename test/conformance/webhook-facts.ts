// The small vocabulary that the suite of webhooks writes with.

import { randomUUID } from "node:crypto";
import type { RunId } from "@pawl/core/name/ids";
import type {
  ClaimedDelivery,
  NewEndpoint,
  NewRunWebhook,
  PostedEvent,
  SettledCall,
  Shares,
} from "@pawl/platform/store/webhooks/webhooks";
import type { Journal, Transaction } from "@pawl/platform/store/tick/journal";
import { begin, queued, step } from "./facts.ts";

export const KEY = Buffer.alloc(32, 1);
export const OTHER = Buffer.alloc(32, 2);
export const URL = "https://example.com/hook";
export const TENANT = "acme";
/** More than a test makes. */
export const MOST = 200;
export const ALL: Shares = { share: 100, busy: new Map() };

export const endpoint = (over: Partial<NewEndpoint> = {}): NewEndpoint => ({
  ...{ tenantId: TENANT, endpointId: "ops", url: URL, description: "" },
  ...{ events: ["run.completed"], workflowIds: [], byReference: false },
  ...{ headers: '{"x-a":"1"}', secret: KEY, requestId: null },
  ...over,
});

export const own = (runId: RunId, over: Partial<NewRunWebhook> = {}): NewRunWebhook => ({
  ...{ runId, place: 0, events: "node.queued run.completed", endpointId: null, url: URL },
  ...{ headers: "{}", secret: KEY.toString("base64") },
  ...over,
});

export const posted = (runId: RunId, over: Partial<PostedEvent> = {}): PostedEvent => ({
  ...{ runId, back: 0, eventType: "node.queued", nodeId: "a", iteration: 0 },
  ...{ result: '{"run_id":"r"}', baseId: randomUUID() },
  ...over,
});

/** Commits an event of a run with what `also` sends. */
export const post = (
  journal: Journal,
  runId: RunId,
  also: (tx: Transaction) => void,
): Promise<unknown> => step(journal, runId, 1, { facts: [queued()], also });

/** A run with a webhook of its own, whose event is in the outbox. */
export async function sent(journal: Journal, over: Partial<NewRunWebhook> = {}): Promise<RunId> {
  const runId = await begin(journal);
  await post(journal, runId, (tx) => {
    void tx.keepWebhooks([own(runId, over)]);
    void tx.post([posted(runId)]);
  });
  return runId;
}

export const ended = (claim: ClaimedDelivery, over: Partial<SettledCall> = {}): SettledCall => ({
  ...{ runId: claim.runId, deliveryId: claim.deliveryId, epoch: claim.epoch },
  ...{ state: "delivered", delayMs: 0, statusCode: 200, error: "", latencyMs: 3 },
  ...{ executorId: randomUUID(), isGone: false },
  ...over,
});
