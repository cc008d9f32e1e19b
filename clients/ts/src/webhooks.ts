// Webhooks: receivers, their secrets, what was delivered to them, and the check of a signature for receivers.

import type { Client } from "@connectrpc/connect";
import { durationFromMs } from "@bufbuild/protobuf/wkt";
import {
  type WebhookAttempt,
  type WebhookDelivery,
  WebhookDeliveryState,
  type WebhookEndpoint,
} from "@pawl/proto/pawl/v1/webhook_pb";
import type { WebhookService } from "@pawl/proto/pawl/v1/webhook_service_pb";
import {
  type Caller,
  identified,
  type MutationOptions,
  type Page,
  type PageOptions,
  type PawlCallOptions,
  pick,
  present,
} from "./caller.ts";
import type { DeliveryState } from "./result.ts";

/** A receiver of events of one run. Give a url, an endpointId, or both. */
export interface RunWebhookInput {
  readonly url?: string | undefined;
  /** Dotted types, such as run.completed. By default the terminal ones. */
  readonly events?: readonly string[] | undefined;
  /** The endpoint whose secrets sign the calls, and whose headers they have. */
  readonly endpointId?: string | undefined;
  /** Signs the calls if no endpoint does: whsec_ and base64. */
  readonly secret?: string | undefined;
  readonly headers?: Readonly<Record<string, string>> | undefined;
}

export interface WebhookOptions {
  /** Calls a URL at events of the run. */
  readonly webhook?: RunWebhookInput | undefined;
}

export interface WebhookEndpointInput {
  readonly url: string;
  readonly description?: string | undefined;
  /** Dotted types. By default the terminal ones. */
  readonly events?: readonly string[] | undefined;
  /** Only runs of these workflows. By default of all saved ones. */
  readonly workflowIds?: readonly string[] | undefined;
  /** It gets nothing by itself, only from runs and workflows that name it. */
  readonly byReference?: boolean | undefined;
  /** Headers of every call. An empty value keeps the value that the endpoint has. */
  readonly headers?: Readonly<Record<string, string>> | undefined;
}

/** An endpoint with its secret. No other call returns the secret again. */
export interface EndpointWithSecret {
  readonly endpoint: WebhookEndpoint;
  readonly secret: string;
}

export interface DeliveryWithAttempts {
  readonly delivery: WebhookDelivery;
  /** The body of every call. */
  readonly body: string;
  readonly attempts: readonly WebhookAttempt[];
}

export interface ListDeliveriesOptions extends PageOptions {
  readonly runId?: string | undefined;
  readonly endpointId?: string | undefined;
  readonly states?: readonly DeliveryState[] | undefined;
}

export type EndpointPage = Page<"endpoints", WebhookEndpoint>;
export type DeliveryPage = Page<"deliveries", WebhookDelivery>;

interface SecretOptions extends MutationOptions {
  /** By default the scheduler makes one. */
  readonly secret?: string | undefined;
}

export interface Webhooks {
  /** @throws PawlError WEBHOOK_ENDPOINT_EXISTS, INPUT_INVALID */
  create(
    endpointId: string,
    input: WebhookEndpointInput,
    options?: SecretOptions,
  ): Promise<EndpointWithSecret>;
  /** @throws PawlError WEBHOOK_ENDPOINT_NOT_FOUND */
  get(endpointId: string, options?: PawlCallOptions): Promise<WebhookEndpoint>;
  list(options?: PageOptions): Promise<EndpointPage>;
  /** Replaces the specification, if one is given, and switches the endpoint on or off. @throws PawlError VERSION_MISMATCH */
  update(
    endpointId: string,
    input: WebhookEndpointInput | undefined,
    options?: MutationOptions & {
      readonly disabled?: boolean | undefined;
      readonly expectedVersion?: number | undefined;
    },
  ): Promise<WebhookEndpoint>;
  delete(endpointId: string, options?: MutationOptions): Promise<void>;
  /** Gives another secret. The present one signs too, by default for a day. */
  rotateSecret(
    endpointId: string,
    options?: SecretOptions & { readonly overlapMs?: number | undefined },
  ): Promise<EndpointWithSecret>;
  deliveries(options?: ListDeliveriesOptions): Promise<DeliveryPage>;
  /** @throws PawlError WEBHOOK_DELIVERY_NOT_FOUND */
  delivery(deliveryId: string, options?: PawlCallOptions): Promise<DeliveryWithAttempts>;
  /** Sends a delivery again under the same id. @throws PawlError WEBHOOK_DELIVERY_NOT_FOUND */
  redeliver(deliveryId: string, options?: MutationOptions): Promise<WebhookDelivery>;
}

const STATES: Record<DeliveryState, WebhookDeliveryState> = {
  pending: WebhookDeliveryState.PENDING,
  delivered: WebhookDeliveryState.DELIVERED,
  dead: WebhookDeliveryState.DEAD,
};

export function createWebhooks(rpc: Client<typeof WebhookService>, call: Caller): Webhooks {
  return {
    create: async (endpointId, input, options) => {
      const request = { ...identified(options), endpointId, spec: specOf(input) };
      const { endpoint, secret } = await call(rpc.createEndpoint, request);
      return { endpoint: present(endpoint), secret };
    },
    get: (endpointId, options) =>
      pick(call(rpc.getEndpoint, { ...options, endpointId }), "endpoint"),
    list: (options = {}) => call(rpc.listEndpoints, options),
    update: (endpointId, input, options) => {
      const spec = input === undefined ? {} : { spec: specOf(input) };
      return pick(
        call(rpc.updateEndpoint, { ...identified(options), endpointId, ...spec }),
        "endpoint",
      );
    },
    async delete(endpointId, options) {
      await call(rpc.deleteEndpoint, { ...identified(options), endpointId });
    },
    async rotateSecret(endpointId, { overlapMs, ...options } = {}) {
      const overlap = overlapMs === undefined ? {} : { overlap: durationFromMs(overlapMs) };
      const request = { ...identified(options), endpointId, ...overlap };
      const { endpoint, secret } = await call(rpc.rotateSecret, request);
      return { endpoint: present(endpoint), secret };
    },
    deliveries: ({ states = [], ...options } = {}) =>
      call(rpc.listDeliveries, { ...options, states: states.map((state) => STATES[state]) }),
    async delivery(deliveryId, options) {
      const answer = await call(rpc.getDelivery, { ...options, deliveryId });
      const { attempts, body } = answer;
      return {
        ...{ delivery: present(answer.delivery), attempts },
        body: new TextDecoder().decode(body),
      };
    },
    redeliver: (deliveryId, options) =>
      pick(call(rpc.redeliver, { ...identified(options), deliveryId }), "delivery"),
  };
}

function specOf({
  url,
  events = [],
  workflowIds = [],
  headers = {},
  ...rest
}: WebhookEndpointInput) {
  const { description = "", byReference = false } = rest;
  const lists = { events: [...events], workflowIds: [...workflowIds], headers: { ...headers } };
  return { url, description, byReference, ...lists };
}

/** The webhook of a start in the form of the wire. */
export function webhookOf({ webhook }: WebhookOptions) {
  if (webhook === undefined) return {};
  const { url = "", endpointId = "", secret = "", events = [], headers = {} } = webhook;
  return { webhook: { url, endpointId, secret, events: [...events], headers: { ...headers } } };
}
