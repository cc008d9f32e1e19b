// WebhookService at the gateway: reads here, changes checked and forwarded.

import { create } from "@bufbuild/protobuf";
import type { ServiceImpl } from "@connectrpc/connect";
import { EngineError } from "@pawl/core/fault/engine-error";
import { webhookBody } from "@pawl/core/log/result";
import { DEFAULT_TENANT } from "@pawl/core/name/tenant";
import { ATTEMPTS_MAX } from "@pawl/core/policy/webhook";
import {
  attemptsOf,
  countCallers,
  getDelivery,
  getDeliveryBody,
  getEndpoint,
  listDeliveries,
  listEndpoints,
} from "@pawl/platform/store/webhooks/reads";
import type { DeliveryRecord } from "@pawl/platform/store/webhooks/webhooks";
import { nameOf, optionalName, uuidOf, valuesOf } from "@pawl/platform/wire/fields";
import { toJsonBytes } from "@pawl/platform/wire/scalar";
import {
  fromWireDeliveryState,
  toWireAttempt,
  toWireDelivery,
  toWireEndpoint,
} from "@pawl/platform/wire/webhook";
import {
  deliveryIdOf,
  parseCreateEndpoint,
  parseEndpointCommand,
  parseRedeliver,
  parseRotate,
  parseUpdateEndpoint,
} from "@pawl/platform/wire/webhook-requests";
import {
  GetDeliveryResponseSchema,
  GetEndpointResponseSchema,
  ListDeliveriesResponseSchema,
  ListEndpointsResponseSchema,
  type WebhookService,
} from "@pawl/proto/pawl/v1/webhook_service_pb";
import { forwarded } from "../request/forward.ts";
import type { ServiceParts } from "./service-parts.ts";

/** The newest calls that an answer has. */
const ATTEMPTS_SHOWN = 100;

export const createWebhookService = ({
  pool,
  pages,
  scheduler: { webhooks },
}: ServiceParts): ServiceImpl<typeof WebhookService> => ({
  createEndpoint: forwarded(webhooks.createEndpoint, parseCreateEndpoint),
  updateEndpoint: forwarded(webhooks.updateEndpoint, parseUpdateEndpoint),
  deleteEndpoint: forwarded(webhooks.deleteEndpoint, parseEndpointCommand),
  rotateSecret: forwarded(webhooks.rotateSecret, parseRotate),
  redeliver: forwarded(webhooks.redeliver, parseRedeliver),
  getEndpoint: async (request) => {
    const endpointId = nameOf("endpoint_id", request.endpointId);
    const endpoint = await getEndpoint(pool, { tenantId: DEFAULT_TENANT, endpointId });
    if (endpoint === undefined)
      throw new EngineError(
        "WEBHOOK_ENDPOINT_NOT_FOUND",
        `There is no webhook endpoint ${endpointId}.`,
        { metadata: { endpoint_id: endpointId } },
      );
    return create(GetEndpointResponseSchema, { endpoint: toWireEndpoint(endpoint) });
  },
  listEndpoints: async (request) => {
    const { rows, nextPageToken } = await pages.page(request, (asked) =>
      listEndpoints(pool, DEFAULT_TENANT, asked),
    );
    const endpoints = rows.map(toWireEndpoint);
    return create(ListEndpointsResponseSchema, { endpoints, nextPageToken });
  },
  listDeliveries: async (request) => {
    const filter = {
      runId: request.runId === "" ? "" : uuidOf("run_id", request.runId),
      endpointId: optionalName("endpoint_id", request.endpointId),
      states: valuesOf("states", "a state", request.states, fromWireDeliveryState),
    };
    const { rows, nextPageToken } = await pages.page(request, (asked) =>
      listDeliveries(pool, DEFAULT_TENANT, filter, asked),
    );
    const callers = rows.some(isPending) ? await countCallers(pool) : 1;
    const deliveries = rows.map((row) => toWireDelivery(row, whyItWaits(row, callers)));
    return create(ListDeliveriesResponseSchema, { deliveries, nextPageToken });
  },
  getDelivery: async (request) => {
    const deliveryId = deliveryIdOf(request.deliveryId);
    const [delivery, body] = await Promise.all([
      getDelivery(pool, DEFAULT_TENANT, deliveryId),
      getDeliveryBody(pool, DEFAULT_TENANT, deliveryId),
    ]);
    if (delivery === undefined || body === undefined)
      throw new EngineError(
        "WEBHOOK_DELIVERY_NOT_FOUND",
        `There is no webhook delivery ${deliveryId}.`,
        { metadata: { delivery_id: deliveryId } },
      );
    const [attempts, callers] = await Promise.all([
      attemptsOf(pool, delivery, ATTEMPTS_SHOWN),
      isPending(delivery) ? countCallers(pool) : 1,
    ]);
    return create(GetDeliveryResponseSchema, {
      delivery: toWireDelivery(delivery, whyItWaits(delivery, callers)),
      body: toJsonBytes(webhookBody({ ...body, at: body.createdAt })),
      attempts: attempts.map(toWireAttempt),
    });
  },
});

const isPending = ({ state }: DeliveryRecord): boolean => state === "pending";

/** Why a pending delivery is not called now, for people. Empty for any other, and for one that is due. */
function whyItWaits(delivery: DeliveryRecord, callers: number): string {
  if (!isPending(delivery)) return "";
  if (callers === 0)
    return "No connected executor makes webhook calls: start an executor of this product, with PAWL_EXECUTOR_TOKEN if the scheduler has one.";
  if (delivery.error === "") return "";
  const left = ATTEMPTS_MAX - delivery.attempts;
  return `The last call failed: ${delivery.error}. ${left} more ${left === 1 ? "attempt is" : "attempts are"} left.`;
}
