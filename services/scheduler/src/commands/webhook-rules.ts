// What a receiver of webhooks must be: its URL leads to an address that executors may call, and its endpoint exists.

import type { Graph } from "@pawl/core/definition/graph";
import type { Violation } from "@pawl/core/definition/shape";
import { invalidField } from "@pawl/core/fault/engine-error";
import type { Receiver } from "@pawl/core/policy/webhook";
import { checkUrl, type EgressPolicy } from "@pawl/platform/egress/url";
import { endpointNotFound } from "../inputs/errors.ts";
import type { AdmitParts } from "./parts.ts";

/** @throws INPUT_INVALID that names the field */
export function checkWebhookUrl(field: string, url: string, egress: EgressPolicy): void {
  const verdict = checkUrl(url, egress);
  if (!verdict.ok) throw invalidField(field, "URL_BLOCKED", verdict.message);
}

/** @throws INPUT_INVALID, WEBHOOK_ENDPOINT_NOT_FOUND */
export async function checkReceiver(
  { webhooks, egress }: Pick<AdmitParts, "webhooks" | "egress">,
  tenantId: string,
  receiver: Receiver | undefined,
): Promise<void> {
  if (receiver === undefined) return;
  const { url, endpointId } = receiver;
  if (url !== null) checkWebhookUrl("webhook.url", url, egress);
  if (endpointId === null) return;
  const endpoint = await webhooks.find({ tenantId, endpointId });
  if (endpoint === undefined) throw endpointNotFound(endpointId);
}

/** The webhooks of a definition whose URLs may not be called. */
export const blockedWebhooks = ({ definition }: Graph, egress: EgressPolicy): Violation[] =>
  definition.webhooks.flatMap(({ url }, at) => {
    const verdict = url === null ? undefined : checkUrl(url, egress);
    if (verdict === undefined || verdict.ok) return [];
    const path = `webhooks[${at}].url`;
    return [{ path, reason: "URL_BLOCKED", message: verdict.message, nodeId: "" }];
  });
