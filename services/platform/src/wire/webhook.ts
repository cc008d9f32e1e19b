// Webhooks on the wire: the receiver that a run asks for, receivers of an instance, deliveries, and the record of a run.

import { create } from "@bufbuild/protobuf";
import { LIMITS } from "@pawl/core/data/limits";
import { invalidField } from "@pawl/core/fault/engine-error";
import type { RunException, RunResult } from "@pawl/core/log/result";
import {
  type DeliveryState,
  type Receiver,
  secretKeyText,
  TERMINAL_EVENTS,
  WEBHOOK_EVENTS,
} from "@pawl/core/policy/webhook";
import {
  type RunResult as WireResult,
  RunResultSchema,
  type RunWebhook,
  WebhookAttemptSchema,
  type WebhookAttempt as WireAttempt,
  WebhookDeliverySchema,
  type WebhookDelivery as WireDelivery,
  type WebhookEndpoint as WireEndpoint,
  WebhookEndpointSchema,
  WebhookDeliveryState as WireState,
} from "@pawl/proto/pawl/v1/webhook_pb";
import { checkHeaders } from "../egress/headers.ts";
import type {
  DeliveryAttempt,
  DeliveryRecord,
  EndpointRecord,
} from "../store/webhooks/webhooks.ts";
import { namesOf, toWireFailureClass, toWireRunStatus } from "./enum.ts";
import { optionalName } from "./fields.ts";
import { toJsonBytes, toTimestamp, toTimestampOrNone } from "./scalar.ts";
import { toWireState } from "./state.ts";

const states = namesOf(WireState);

/** Undefined for an unknown number, and for UNSPECIFIED. */
export const fromWireDeliveryState = (state: WireState): DeliveryState | undefined =>
  states.nameOf(state);

/** The receiver that a request asks for. The scheduler also checks where its URL leads. @throws INPUT_INVALID */
export function runWebhookOf(webhook: RunWebhook | undefined): Receiver | undefined {
  if (webhook === undefined) return undefined;
  const { url, endpointId, secret } = webhook;
  optionalName("webhook.endpoint_id", endpointId);
  if (url === "" && endpointId === "")
    throw invalidField("webhook.url", "REQUIRED", "give a url, or the id of an endpoint");
  if (secret !== "" && endpointId !== "")
    throw invalidField("webhook.secret", "AMBIGUOUS", "the endpoint has the secret; leave it out");
  return {
    events: eventsOf("webhook.events", webhook.events),
    endpointId: endpointId === "" ? null : endpointId,
    url: url === "" ? null : urlOf("webhook.url", url),
    headers: headersOf("webhook.headers", webhook.headers),
    secret: secret === "" ? null : secretKeyOf("webhook.secret", secret),
  };
}

const KNOWN_EVENTS: ReadonlySet<string> = new Set(WEBHOOK_EVENTS);

/** The events that a receiver gets, without repeats. @throws INPUT_INVALID */
export function eventsOf(field: string, events: readonly string[]): string[] {
  if (events.length > WEBHOOK_EVENTS.length * 2)
    throw invalidField(field, "TOO_MANY", "names more events than there are");
  events.forEach((event, at) => {
    if (!KNOWN_EVENTS.has(event))
      throw invalidField(
        `${field}[${at}]`,
        "UNKNOWN_EVENT",
        `is none of ${WEBHOOK_EVENTS.join(", ")}`,
      );
  });
  return events.length === 0 ? [...TERMINAL_EVENTS] : [...new Set(events)];
}

/** @throws INPUT_INVALID */
export function urlOf(field: string, url: string): string {
  if (url === "") throw invalidField(field, "REQUIRED", "is empty");
  if (url.length > LIMITS.webhookUrlLength)
    throw invalidField(field, "TOO_LONG", `is longer than ${LIMITS.webhookUrlLength} characters`);
  return url;
}

/** The key of a secret, in base64. @throws INPUT_INVALID */
export function secretKeyOf(field: string, secret: string): string {
  const key = secretKeyText(secret);
  if (key !== undefined) return key;
  throw invalidField(field, "BAD_SECRET", "is not whsec_ and 24 to 64 bytes in base64");
}

const OWN_HEADER = /^webhook-/;

/** Headers by their names in lower case. @throws INPUT_INVALID */
export function headersOf(
  field: string,
  headers: Readonly<Record<string, string>>,
): Readonly<Record<string, string>> {
  if (Object.keys(headers).length > LIMITS.webhookHeaders)
    throw invalidField(field, "TOO_MANY", `has more than ${LIMITS.webhookHeaders} headers`);
  const checked = checkHeaders(headers);
  if (!checked.ok) throw invalidField(field, "BAD_HEADER", checked.message);
  const own = Object.keys(checked.headers).find((name) => OWN_HEADER.test(name));
  if (own === undefined) return checked.headers;
  throw invalidField(field, "BAD_HEADER", `the header ${own} is set by Pawl; remove it`);
}

/** The record of a run for a caller. */
export const toWireResult = (
  result: RunResult,
  deliveries: readonly DeliveryRecord[],
): WireResult =>
  create(RunResultSchema, {
    runId: result.runId,
    workflowId: result.workflowId,
    workflowVersion: result.workflowVersion,
    status: toWireRunStatus(result.status),
    outputJson: toJsonBytes(result.output),
    state: toWireState(result.state),
    hasFailures: result.hasFailures,
    lastEventId: BigInt(result.eventId),
    runStartedAt: toTimestampOrNone(result.startedAt),
    runEndedAt: toTimestampOrNone(result.endedAt),
    webhooks: deliveries.map(({ state, ...delivery }) => ({
      deliveryId: delivery.deliveryId,
      eventType: delivery.eventType,
      state: states.values[state],
      attempts: delivery.attempts,
      statusCode: delivery.statusCode,
      error: delivery.error,
    })),
    ...(result.exception && { exception: toWireException(result.exception) }),
  });

const toWireException = ({ failureClass, details, ...same }: RunException) => ({
  ...same,
  failureClass: toWireFailureClass(failureClass),
  detailsJson: toJsonBytes(details),
});

/** A URL without its query, which may hold a token. */
const shownUrl = (url: string): string => url.replace(/[?#].*$/s, "");

/** A delivery for readers. `waitingReason` says why a pending one is not called now. */
export const toWireDelivery = (delivery: DeliveryRecord, waitingReason = ""): WireDelivery =>
  create(WebhookDeliverySchema, {
    deliveryId: delivery.deliveryId,
    runId: delivery.runId,
    workflowId: delivery.workflowId ?? "",
    eventType: delivery.eventType,
    eventId: BigInt(delivery.eventId),
    endpointId: delivery.endpointId ?? "",
    url: shownUrl(delivery.url),
    state: states.values[delivery.state],
    attempts: delivery.attempts,
    statusCode: delivery.statusCode,
    error: delivery.error,
    createTime: toTimestamp(delivery.createdAt),
    nextAttemptTime: delivery.state === "pending" ? toTimestamp(delivery.dueAt) : undefined,
    endTime: toTimestampOrNone(delivery.endedAt),
    waitingReason,
  });

export const toWireAttempt = (attempt: DeliveryAttempt): WireAttempt =>
  create(WebhookAttemptSchema, {
    number: attempt.number,
    endTime: toTimestamp(attempt.endedAt),
    latencyMs: BigInt(Math.round(attempt.latencyMs)),
    statusCode: attempt.statusCode,
    error: attempt.error,
    executorId: attempt.executorId ?? "",
  });

/** A receiver for readers. It has no secret, and only the names of its headers. */
export const toWireEndpoint = (endpoint: EndpointRecord): WireEndpoint =>
  create(WebhookEndpointSchema, {
    endpointId: endpoint.endpointId,
    spec: {
      url: endpoint.url,
      description: endpoint.description,
      events: [...endpoint.events],
      workflowIds: [...endpoint.workflowIds],
      byReference: endpoint.byReference,
      headers: Object.fromEntries(endpoint.headerNames.map((name) => [name, ""])),
    },
    version: endpoint.version,
    disabled: endpoint.disabledReason !== null,
    disabledReason: endpoint.disabledReason ?? "",
    previousSecretUntil: toTimestampOrNone(endpoint.previousUntil),
    createTime: toTimestamp(endpoint.createdAt),
    updateTime: toTimestamp(endpoint.updatedAt),
  });
