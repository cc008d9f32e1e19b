// The commands of people about webhooks: receivers, their secrets, and deliveries that are sent again.

import { randomBytes } from "node:crypto";
import { LIMITS } from "@pawl/core/data/limits";
import { EngineError } from "@pawl/core/fault/engine-error";
import { unreachable } from "@pawl/core/fault/invariant";
import { secretOf } from "@pawl/core/policy/webhook";
import type { EgressPolicy } from "@pawl/platform/egress/url";
import type {
  DeliveryRecord,
  EndpointRecord,
  SaveEndpointResult,
  Webhooks,
} from "@pawl/platform/store/webhooks/webhooks";
import type { AskedEndpoint } from "@pawl/platform/wire/webhook-requests";
import { endpointNotFound } from "../inputs/errors.ts";
import { checkWebhookUrl } from "./webhook-rules.ts";

export interface WebhookParts {
  readonly webhooks: Webhooks;
  readonly egress: EgressPolicy;
  /** A delivery may be due. */
  readonly onDelivery: () => void;
}

interface Saved {
  readonly endpoint: EndpointRecord;
  readonly secret: string;
}

const KEY_BYTES = 32;

const keyOf = (text: string | undefined): Buffer =>
  text === undefined ? randomBytes(KEY_BYTES) : Buffer.from(text, "base64");

const secretText = (key: Buffer): string => secretOf(key.toString("base64"));

/** @throws INPUT_INVALID, LIMIT_EXCEEDED, WEBHOOK_ENDPOINT_EXISTS */
export async function createEndpoint(
  { webhooks, egress }: WebhookParts,
  tenantId: string,
  asked: {
    readonly endpointId: string;
    readonly spec: AskedEndpoint;
    readonly secretKey: string | undefined;
    readonly requestId: string | null;
  },
): Promise<Saved> {
  const { endpointId, spec, requestId } = asked;
  checkWebhookUrl("spec.url", spec.url, egress);
  const secret = keyOf(asked.secretKey);
  const headers = JSON.stringify(spec.headers);
  const made = await webhooks.create(
    { ...spec, headers, tenantId, endpointId, secret, requestId },
    LIMITS.webhookEndpoints,
  );
  if (made.kind === "repeated") return { endpoint: made.endpoint, secret: secretText(made.secret) };
  return { endpoint: endpointOf(made, endpointId), secret: secretText(secret) };
}

/** @throws INPUT_INVALID, WEBHOOK_ENDPOINT_NOT_FOUND, VERSION_MISMATCH */
export async function updateEndpoint(
  { webhooks, egress }: WebhookParts,
  tenantId: string,
  asked: {
    readonly endpointId: string;
    readonly spec: AskedEndpoint | undefined;
    readonly disabled: boolean;
    readonly expectedVersion: number;
    readonly requestId: string | null;
  },
): Promise<EndpointRecord> {
  const { endpointId, requestId, disabled } = asked;
  const present =
    asked.spec === undefined ? await webhooks.find({ tenantId, endpointId }) : undefined;
  const spec = asked.spec ?? specOf(present, endpointId);
  if (asked.spec !== undefined) checkWebhookUrl("spec.url", spec.url, egress);
  const saved = await webhooks.update({
    ...{ ...spec, headers: JSON.stringify(spec.headers), tenantId, endpointId, requestId },
    disabledReason: disabled ? "a user switched it off" : null,
    // Without a spec the command keeps the one that it read, if it is still the present one.
    expectedVersion: asked.expectedVersion || (present?.version ?? 0),
  });
  return endpointOf(saved, endpointId);
}

/** @throws WEBHOOK_ENDPOINT_NOT_FOUND */
export async function deleteEndpoint(
  { webhooks }: WebhookParts,
  tenantId: string,
  { endpointId }: { readonly endpointId: string },
): Promise<void> {
  if (!(await webhooks.remove({ tenantId, endpointId }))) throw endpointNotFound(endpointId);
}

/** @throws WEBHOOK_ENDPOINT_NOT_FOUND */
export async function rotateSecret(
  { webhooks }: WebhookParts,
  tenantId: string,
  asked: {
    readonly endpointId: string;
    readonly secretKey: string | undefined;
    readonly overlapMs: number;
  },
): Promise<Saved> {
  const { endpointId, secretKey, overlapMs } = asked;
  const secret = keyOf(secretKey);
  const endpoint = await webhooks.rotate({ tenantId, endpointId }, secret, overlapMs);
  if (endpoint === undefined) throw endpointNotFound(endpointId);
  return { endpoint, secret: secretText(secret) };
}

/** @throws WEBHOOK_DELIVERY_NOT_FOUND */
export async function redeliver(
  { webhooks, onDelivery }: WebhookParts,
  tenantId: string,
  { deliveryId }: { readonly deliveryId: string },
): Promise<DeliveryRecord> {
  const delivery = await webhooks.redeliver(tenantId, deliveryId);
  if (delivery === undefined)
    throw new EngineError(
      "WEBHOOK_DELIVERY_NOT_FOUND",
      `There is no webhook delivery ${deliveryId}.`,
      { metadata: { delivery_id: deliveryId } },
    );
  onDelivery();
  return delivery;
}

/** The spec of an endpoint. Headers without a value keep their value. */
function specOf(endpoint: EndpointRecord | undefined, endpointId: string): AskedEndpoint {
  if (endpoint === undefined) throw endpointNotFound(endpointId);
  const { url, description, events, workflowIds, byReference, headerNames } = endpoint;
  const headers = Object.fromEntries(headerNames.map((name) => [name, ""]));
  return { url, description, events, workflowIds, byReference, headers };
}

function endpointOf(saved: SaveEndpointResult, endpointId: string): EndpointRecord {
  const metadata = { endpoint_id: endpointId };
  switch (saved.kind) {
    case "saved":
    case "repeated":
      return saved.endpoint;
    case "missing":
      throw endpointNotFound(endpointId);
    case "exists":
      throw new EngineError(
        "WEBHOOK_ENDPOINT_EXISTS",
        `There is a webhook endpoint ${endpointId} already; update it instead.`,
        { metadata },
      );
    case "full":
      throw new EngineError(
        "LIMIT_EXCEEDED",
        `There are ${LIMITS.webhookEndpoints} webhook endpoints already; delete one, or use one for several workflows.`,
        { metadata: { limit: "webhookEndpoints" } },
      );
    case "version_mismatch": {
      const { currentVersion } = saved;
      throw new EngineError(
        "VERSION_MISMATCH",
        `Webhook endpoint ${endpointId} is at version ${currentVersion} by now; read it and edit again.`,
        { metadata: { ...metadata, current_version: String(currentVersion) } },
      );
    }
    default:
      return unreachable(saved, "save result");
  }
}
