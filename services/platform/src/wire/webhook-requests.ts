// Parses commands about webhooks. The gateway and the scheduler refuse the same requests with the same words. The scheduler alone knows which
// addresses a URL may lead to.

import { LIMITS } from "@pawl/core/data/limits";
import { invalidField } from "@pawl/core/fault/engine-error";
import type { WebhookEndpointSpec } from "@pawl/proto/pawl/v1/webhook_pb";
import type {
  CreateEndpointRequest,
  DeleteEndpointRequest,
  RedeliverRequest,
  RotateSecretRequest,
  UpdateEndpointRequest,
} from "@pawl/proto/pawl/v1/webhook_service_pb";
import type { EndpointSpec, Headers } from "../store/webhooks/webhooks.ts";
import { durationMsOf, lineOf, nameOf, requestIdOf, uuidOf } from "./fields.ts";
import { eventsOf, headersOf, secretKeyOf, urlOf } from "./webhook.ts";

/** What a user writes of a receiver. */
export interface AskedEndpoint extends EndpointSpec {
  readonly headers: Headers;
}

/** @throws INPUT_INVALID */
function specOf(spec: WebhookEndpointSpec): AskedEndpoint {
  const { workflowIds } = spec;
  if (workflowIds.length > LIMITS.webhookWorkflows)
    throw invalidField("spec.workflow_ids", "TOO_MANY", `at most ${LIMITS.webhookWorkflows}`);
  return {
    url: urlOf("spec.url", spec.url),
    description: lineOf("spec.description", spec.description),
    events: eventsOf("spec.events", spec.events),
    workflowIds: workflowIds.map((id, at) => nameOf(`spec.workflow_ids[${at}]`, id)),
    byReference: spec.byReference,
    headers: headersOf("spec.headers", spec.headers),
  };
}

const endpointIdOf = (text: string): string => nameOf("endpoint_id", text);

/** Undefined lets the scheduler make one. @throws INPUT_INVALID */
const newSecretOf = (text: string): string | undefined =>
  text === "" ? undefined : secretKeyOf("secret", text);

export function parseCreateEndpoint(request: CreateEndpointRequest) {
  const { spec } = request;
  if (spec === undefined) throw invalidField("spec", "REQUIRED", "is missing");
  return {
    endpointId: endpointIdOf(request.endpointId),
    spec: specOf(spec),
    secretKey: newSecretOf(request.secret),
    requestId: requestIdOf(request.requestId),
  };
}

export const parseUpdateEndpoint = (request: UpdateEndpointRequest) => ({
  endpointId: endpointIdOf(request.endpointId),
  spec: request.spec === undefined ? undefined : specOf(request.spec),
  disabled: request.disabled,
  expectedVersion: request.expectedVersion,
  requestId: requestIdOf(request.requestId),
});

export const parseEndpointCommand = (request: DeleteEndpointRequest) => ({
  endpointId: endpointIdOf(request.endpointId),
  requestId: requestIdOf(request.requestId),
});

export const parseRotate = (request: RotateSecretRequest) => ({
  endpointId: endpointIdOf(request.endpointId),
  secretKey: newSecretOf(request.secret),
  overlapMs:
    durationMsOf("overlap", request.overlap, LIMITS.webhookOverlapMsMax) ?? LIMITS.webhookOverlapMs,
});

export const deliveryIdOf = (text: string): string => uuidOf("delivery_id", text);

export const parseRedeliver = (request: RedeliverRequest) => ({
  deliveryId: deliveryIdOf(request.deliveryId),
  requestId: requestIdOf(request.requestId),
});
