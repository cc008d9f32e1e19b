import { create } from "@bufbuild/protobuf";
import { executorId, runId } from "@pawl/core/name/ids";
import type { ClaimedDelivery, SettledCall, Shares } from "@pawl/platform/store/webhooks/webhooks";
import { createLogger } from "@pawl/platform/telemetry/log";
import { WebhookResultSchema } from "@pawl/proto/pawl/worker/v1/worker_service_pb";
import { expect, test } from "vitest";
import { Session } from "./session.ts";
import { WebhookDesk } from "./webhook-desk.ts";

const RUN = runId("00000000-0000-7000-8000-000000000001");

const due = (receiver: string): ClaimedDelivery => ({
  ...{
    runId: RUN,
    deliveryId: crypto.randomUUID(),
    epoch: 1,
    receiver,
    url: `https://${receiver}`,
  },
  ...{ eventType: "run.completed", eventId: 2, lastEventId: 2, nodeId: "", iteration: 0 },
  ...{ result: "{}", createdAt: 0, runStartedAt: null, runEndedAt: null, attempts: 0 },
  ...{ traceparent: null, headers: {}, secret: null, previousSecret: null, refusal: "" },
});

/** A desk with an executor of so many slots, over an outbox that gives these deliveries, one list for each claim. */
function setup(webhookSlots: number, ...claims: readonly (readonly ClaimedDelivery[])[]) {
  const asked: Shares[] = [];
  const settled: SettledCall[] = [];
  const session = new Session({
    ...{ executorId: executorId(crypto.randomUUID()), sessionId: crypto.randomUUID() },
    ...{ nodeTypes: ["noop"], capacity: 1, webhookSlots, held: [], send: () => undefined },
  });
  const desk = new WebhookDesk({
    webhooks: {
      claim: async (_limit, shares) => claims[asked.push(shares) - 1] ?? [],
      settle: async (call) => settled.push(call) > 0,
      release: async () => undefined,
    },
    connected: { sessions: [session] },
    times: { firstMs: 1, maxMs: 1 },
    ...{ graceMs: 0, now: () => 0, chance: () => 0, sweepSoon: () => undefined },
    log: createLogger({ service: "test", level: "silent" }),
  });
  const report = (deliveryId: string): void =>
    desk.took(
      session,
      create(WebhookResultSchema, { deliveryId, runId: RUN, epoch: 1n, statusCode: 200 }),
    );
  return { desk, session, report, asked, settled };
}

test("the result of an executor that makes no calls is ignored, and that of one that gave its slots back counts (S4.6)", () => {
  const stranger = setup(0);
  stranger.report(crypto.randomUUID());
  expect(stranger.settled).toEqual([]);
  const stopping = setup(16);
  stopping.session.webhookSlots = 0;
  const { deliveryId } = due("a.example");
  stopping.report(deliveryId);
  expect(stopping.settled).toMatchObject([{ deliveryId, state: "delivered" }]);
});

test("a receiver gets at most half of the slots, and a claim that fills its share looks for others at once (S4.6)", async () => {
  const silent = [due("silent.example"), due("silent.example")];
  const { desk, report, asked } = setup(4, silent, [due("b.example")]);
  expect(await desk.sweep()).toBe(true);
  expect(await desk.sweep()).toBe(false);
  report(silent[0]?.deliveryId ?? "");
  await desk.sweep();
  expect(asked.map(({ share, busy }) => [share, Object.fromEntries(busy)])).toEqual([
    [2, {}],
    [2, { "silent.example": 2 }],
    [2, { "silent.example": 1, "b.example": 1 }],
  ]);
});

test("an executor with one slot calls every receiver in turn", async () => {
  const { desk, asked } = setup(1);
  await desk.sweep();
  expect(asked[0]?.share).toBe(1);
});
