import { createHmac } from "node:crypto";
import { createRouterTransport } from "@connectrpc/connect";
import { RunStatus } from "@pawl/proto/pawl/v1/run_pb";
import { RunService } from "@pawl/proto/pawl/v1/run_service_pb";
import { WebhookDeliveryState } from "@pawl/proto/pawl/v1/webhook_pb";
import {
  type CreateEndpointRequest,
  type ListDeliveriesRequest,
  type RotateSecretRequest,
  type UpdateEndpointRequest,
  WebhookService,
} from "@pawl/proto/pawl/v1/webhook_service_pb";
import { expect, test } from "vitest";
import { createPawlClient } from "./client.ts";
import { verifyWebhook, type WebhookHeaders, WebhookRefused } from "./verify-webhook.ts";

const KEY = Buffer.from(Array.from({ length: 32 }, (_, index) => index));
const SECRET = `whsec_${KEY.toString("base64")}`;
const OTHER = `whsec_${Buffer.alloc(32).toString("base64")}`;
const BODY = '{"type":"run.completed","data":{"note":"é"}}';
const NOW = 1_800_000_000;
const SIGNED = {
  "webhook-id": "msg",
  "webhook-timestamp": String(NOW),
  "webhook-signature": `v1,AAAA v1,${createHmac("sha256", KEY).update(`msg.${NOW}.${BODY}`).digest("base64")}`,
};

test("a receiver takes a webhook that one of its secrets signed", async () => {
  const now = (NOW + 60) * 1_000;
  const event = await verifyWebhook(SIGNED, BODY, [OTHER, SECRET], { now });
  expect(event.type).toBe("run.completed");
  const headers = new Headers(SIGNED);
  const bytes = new TextEncoder().encode(BODY);
  expect(await verifyWebhook(headers, bytes, SECRET, { now })).toEqual(event);
});

test.each<readonly [string, WebhookHeaders, string, string, number]>([
  ["changed", SIGNED, `${BODY} `, SECRET, NOW],
  ["signed by another", SIGNED, BODY, OTHER, NOW],
  ["old", SIGNED, BODY, SECRET, NOW + 301],
  ["from the future", SIGNED, BODY, SECRET, NOW - 301],
  ["checked with no secret", SIGNED, BODY, "secret", NOW],
  ["not signed", { ...SIGNED, "webhook-signature": "" }, BODY, SECRET, NOW],
  ["without a time", { ...SIGNED, "webhook-timestamp": "soon" }, BODY, SECRET, NOW],
])("a receiver refuses a webhook that is %s", async (_, headers, body, secret, now) => {
  const refused = verifyWebhook(headers, body, secret, { now: now * 1_000 });
  await expect(refused).rejects.toThrow(WebhookRefused);
});

test("endpoints are made, rotated and switched off, and a delivery is sent again", async () => {
  const seen: (
    | CreateEndpointRequest
    | UpdateEndpointRequest
    | RotateSecretRequest
    | ListDeliveriesRequest
  )[] = [];
  const endpoint = { endpointId: "e", version: 2 };
  const delivery = { deliveryId: "d", state: WebhookDeliveryState.DEAD, attempts: 12 };
  const transport = createRouterTransport(({ service }) => {
    service(WebhookService, {
      createEndpoint: (request) => (seen.push(request), { endpoint, secret: SECRET }),
      updateEndpoint: (request) => (seen.push(request), { endpoint }),
      rotateSecret: (request) => (seen.push(request), { endpoint, secret: OTHER }),
      listEndpoints: () => ({ endpoints: [endpoint], nextPageToken: "next" }),
      getEndpoint: () => ({ endpoint }),
      deleteEndpoint: () => ({}),
      listDeliveries: (request) => (seen.push(request), { deliveries: [delivery] }),
      getDelivery: () => ({ delivery, body: new TextEncoder().encode(BODY), attempts: [{}] }),
      redeliver: () => ({ delivery }),
    });
  });
  const { webhooks } = createPawlClient({ transport });
  const made = await webhooks.create("e", { url: "https://example.com/", workflowIds: ["orders"] });
  expect(made.secret).toBe(SECRET);
  await webhooks.update("e", undefined, { disabled: true });
  expect((await webhooks.rotateSecret("e", { overlapMs: 1_500 })).secret).toBe(OTHER);
  expect(await webhooks.get("e")).toMatchObject(endpoint);
  expect((await webhooks.list()).nextPageToken).toBe("next");
  await webhooks.deliveries({ states: ["dead"] });
  expect(await webhooks.delivery("d")).toMatchObject({ delivery, body: BODY });
  expect((await webhooks.redeliver("d")).attempts).toBe(12);
  await webhooks.delete("e");
  expect(seen).toMatchObject([
    { spec: { url: "https://example.com/", workflowIds: ["orders"] } },
    { disabled: true },
    { overlap: { seconds: 1n, nanos: 500_000_000 } },
    { states: [WebhookDeliveryState.DEAD] },
  ]);
  expect(seen[1]).not.toHaveProperty("spec");
});

test("a start names its webhook, and the result of a run has its cause and its deliveries", async () => {
  const transport = createRouterTransport(({ service }) => {
    service(RunService, {
      startRun: ({ webhook }) => ({ run: { runId: webhook?.url ?? "" } }),
      waitRun: ({ runId, withResult }) => ({
        hasEnded: withResult,
        result: {
          runId,
          status: RunStatus.FAILED,
          exception: { cause: "js_error", message: "no luck", nodeId: "work" },
          webhooks: [{ deliveryId: "d", state: WebhookDeliveryState.PENDING, attempts: 1 }],
        },
      }),
    });
  });
  const { runs } = createPawlClient({ transport });
  const { run } = await runs.start("w", { webhook: { url: "https://example.com/" } });
  expect(await runs.result(run.runId)).toMatchObject({
    runId: "https://example.com/",
    status: "failed",
    output: undefined,
    exception: { cause: "js_error", nodeId: "work" },
    webhooks: [{ deliveryId: "d", state: "pending" }],
  });
});
