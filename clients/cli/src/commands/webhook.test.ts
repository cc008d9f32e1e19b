import {
  type CreateEndpointRequest,
  type ListDeliveriesRequest,
  type UpdateEndpointRequest,
} from "@pawl/proto/pawl/v1/webhook_service_pb";
import { WebhookDeliveryState } from "@pawl/proto/pawl/v1/webhook_pb";
import { expect, test } from "vitest";
import { setup } from "./scripted-host.fixture.ts";

const ID = "019a8b3e-2222-7000-8000-000000000002";
const SPEC = { url: "https://example.com/hook", events: ["run.failed"], headers: { "x-key": "" } };
const ENDPOINT = { endpointId: "ops", spec: SPEC, version: 3 };

test("an endpoint is made with its flags, and its secret is printed once", async () => {
  const asked: CreateEndpointRequest[] = [];
  const { gateway, printed, pawl } = await setup({
    webhooks: {
      createEndpoint(request) {
        asked.push(request);
        return { endpoint: ENDPOINT, secret: "whsec_abc" };
      },
    },
  });
  await using _ = gateway;
  const flags = ["--event", "run.failed", "--workflow", "orders", "--header", "x-key=a=b"];
  expect(await pawl("webhook", "create", "ops", "--url", SPEC.url, ...flags)).toBe(0);
  expect(asked[0]?.spec).toMatchObject({
    ...{ url: SPEC.url, events: ["run.failed"], workflowIds: ["orders"] },
    headers: { "x-key": "a=b" },
  });
  expect(printed.out).toContain("secret    whsec_abc");
  expect(await pawl("webhook", "create", "ops")).toBe(2);
  expect(printed.error).toContain("--url URL");
});

test("an update keeps the fields without a flag and names the version that it read", async () => {
  const asked: UpdateEndpointRequest[] = [];
  const { gateway, pawl } = await setup({
    webhooks: {
      getEndpoint: () => ({ endpoint: { ...ENDPOINT, disabled: true } }),
      updateEndpoint(request) {
        asked.push(request);
        return { endpoint: ENDPOINT };
      },
    },
  });
  await using _ = gateway;
  expect(await pawl("webhook", "update", "ops", "--description", "night shift")).toBe(0);
  expect(await pawl("webhook", "update", "ops", "--enable")).toBe(0);
  expect(asked[0]).toMatchObject({ disabled: true, expectedVersion: 3 });
  expect(asked[0]?.spec).toMatchObject({ ...SPEC, description: "night shift" });
  expect(asked[1]?.disabled).toBe(false);
});

test("deliveries are listed with their state, and a dead one is sent again (S4.44)", async () => {
  const asked: ListDeliveriesRequest[] = [];
  const delivery = {
    ...{ deliveryId: ID, state: WebhookDeliveryState.DEAD, eventType: "run.failed" },
    ...{ attempts: 12, statusCode: 503, error: "the receiver answered 503" },
  };
  const { gateway, printed, pawl } = await setup({
    webhooks: {
      listDeliveries(request) {
        asked.push(request);
        return { deliveries: [delivery] };
      },
      getDelivery: () => ({
        delivery,
        body: new TextEncoder().encode("{}"),
        attempts: [{ number: 12, statusCode: 503, latencyMs: 7n }],
      }),
      redeliver: ({ deliveryId }) => ({ delivery: { deliveryId, state: 1 } }),
    },
  });
  await using _ = gateway;
  expect(await pawl("webhook", "deliveries", "--state", "dead", "--endpoint", "ops")).toBe(0);
  expect(asked[0]).toMatchObject({ states: [WebhookDeliveryState.DEAD], endpointId: "ops" });
  for (const text of [ID, "dead", "12", "503", "the receiver answered 503"])
    expect(printed.out).toContain(text);
  expect(await pawl("webhook", "delivery", ID)).toBe(0);
  expect(printed.out).toContain("7 ms");
  printed.out = "";
  expect(await pawl("webhook", "redeliver", ID)).toBe(0);
  expect(printed.out).toContain("pending");
});
