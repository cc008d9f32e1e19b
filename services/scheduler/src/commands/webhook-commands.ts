// The commands about receivers of webhooks, as the scheduler serves them to gateways.

import { DEFAULT_TENANT } from "@pawl/core/name/tenant";
import { serve, type ServedService } from "@pawl/platform/rpc/implementation";
import { toWireDelivery, toWireEndpoint } from "@pawl/platform/wire/webhook";
import {
  parseCreateEndpoint,
  parseEndpointCommand,
  parseRedeliver,
  parseRotate,
  parseUpdateEndpoint,
} from "@pawl/platform/wire/webhook-requests";
import { WebhookService } from "@pawl/proto/pawl/v1/webhook_service_pb";
import {
  createEndpoint,
  deleteEndpoint,
  redeliver,
  rotateSecret,
  updateEndpoint,
  type WebhookParts,
} from "./webhooks.ts";

const TENANT = DEFAULT_TENANT;

export const webhookCommands = (parts: WebhookParts): ServedService =>
  serve(WebhookService, {
    createEndpoint: async (request) => {
      const made = await createEndpoint(parts, TENANT, parseCreateEndpoint(request));
      return { ...made, endpoint: toWireEndpoint(made.endpoint) };
    },
    updateEndpoint: async (request) => ({
      endpoint: toWireEndpoint(await updateEndpoint(parts, TENANT, parseUpdateEndpoint(request))),
    }),
    deleteEndpoint: async (request) => {
      await deleteEndpoint(parts, TENANT, parseEndpointCommand(request));
      return {};
    },
    rotateSecret: async (request) => {
      const made = await rotateSecret(parts, TENANT, parseRotate(request));
      return { ...made, endpoint: toWireEndpoint(made.endpoint) };
    },
    redeliver: async (request) => ({
      delivery: toWireDelivery(await redeliver(parts, TENANT, parseRedeliver(request))),
    }),
  });
