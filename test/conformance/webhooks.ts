// The promises of every store about webhooks: receivers, the outbox and the log of calls.

import { randomUUID } from "node:crypto";
import type { RunId } from "@pawl/core/name/ids";
import type {
  ClaimedDelivery,
  NewEndpoint,
  NewRunWebhook,
  PostedEvent,
  SettledCall,
} from "@pawl/platform/store/webhooks/webhooks";
import type { Journal, Transaction } from "@pawl/platform/store/tick/journal";
import { describe, expect, test } from "vitest";
import { begin, queued, step } from "./facts.ts";
import { setup } from "./setup.ts";
import type { OpenStore } from "./store.ts";

const KEY = Buffer.alloc(32, 1);
const OTHER = Buffer.alloc(32, 2);
const URL = "https://example.com/hook";
const TENANT = "acme";

const endpoint = (over: Partial<NewEndpoint> = {}): NewEndpoint => ({
  ...{ tenantId: TENANT, endpointId: "ops", url: URL, description: "" },
  ...{ events: ["run.completed"], workflowIds: [], byReference: false },
  ...{ headers: '{"x-a":"1"}', secret: KEY, requestId: null },
  ...over,
});

const own = (runId: RunId, over: Partial<NewRunWebhook> = {}): NewRunWebhook => ({
  ...{ runId, place: 0, events: "node.queued run.completed", endpointId: null, url: URL },
  ...{ headers: "{}", secret: KEY.toString("base64") },
  ...over,
});

const posted = (runId: RunId, over: Partial<PostedEvent> = {}): PostedEvent => ({
  ...{ runId, back: 0, eventType: "node.queued", nodeId: "a", iteration: 0 },
  ...{ result: '{"run_id":"r"}', baseId: randomUUID() },
  ...over,
});

/** Commits an event of a run with what `also` sends. */
const post = (journal: Journal, runId: RunId, also: (tx: Transaction) => void): Promise<unknown> =>
  step(journal, runId, 1, { facts: [queued()], also });

/** A run with a webhook of its own, whose event is in the outbox. */
async function sent(journal: Journal, over: Partial<NewRunWebhook> = {}): Promise<RunId> {
  const runId = await begin(journal);
  await post(journal, runId, (tx) => {
    void tx.keepWebhooks([own(runId, over)]);
    void tx.post([posted(runId)]);
  });
  return runId;
}

const ended = (claim: ClaimedDelivery, over: Partial<SettledCall> = {}): SettledCall => ({
  ...{ runId: claim.runId, deliveryId: claim.deliveryId, epoch: claim.epoch },
  ...{ state: "delivered", delayMs: 0, statusCode: 200, error: "", latencyMs: 3 },
  ...{ executorId: randomUUID(), isGone: false },
  ...over,
});

/** All promises about webhooks on one kind of store. */
export function webhookSuite(name: string, open: OpenStore): void {
  describe(`webhooks on ${name}`, () => {
    receivers(open);
    outbox(open);
    repeats(open);
  });
}

function receivers(open: OpenStore): void {
  test("an endpoint is made once; a repeat of its request gives it with its secret", async () => {
    const { webhooks } = await setup(open);
    const asked = endpoint({ requestId: "r-1" });
    const made = await webhooks.create(asked);
    expect(made).toMatchObject({
      kind: "saved",
      endpoint: { endpointId: "ops", version: 1, headerNames: ["x-a"], disabledReason: null },
    });
    expect(JSON.stringify(made)).not.toContain("secret");
    expect(await webhooks.create(asked)).toMatchObject({ kind: "repeated", secret: KEY });
    expect(await webhooks.create(endpoint({ requestId: "r-2" }))).toEqual({ kind: "exists" });
    expect(await webhooks.count(TENANT)).toBe(1);
  });

  test("an edit names the version that it read, and an empty header keeps its value", async () => {
    const { webhooks, journal } = await setup(open);
    await webhooks.create(endpoint({ byReference: true }));
    const { secret: _secret, ...fields } = endpoint({ byReference: true });
    const edit = { ...fields, headers: '{"x-a":"","x-b":"2"}', disabledReason: null };
    const first = await webhooks.update({ ...edit, expectedVersion: 1 });
    expect(first).toMatchObject({ kind: "saved", endpoint: { version: 2 } });
    const late = await webhooks.update({ ...edit, expectedVersion: 1 });
    expect(late).toEqual({ kind: "version_mismatch", currentVersion: 2 });
    const none = { ...edit, endpointId: "none", expectedVersion: 0 };
    expect(await webhooks.update(none)).toEqual({ kind: "missing" });
    await sent(journal, { endpointId: "ops", url: null, secret: null });
    const [claim] = await webhooks.claim(10);
    expect(claim).toMatchObject({ url: URL, headers: { "x-a": "1", "x-b": "2" }, refusal: "" });
  });

  test("a change of the receivers raises the epoch of the pauses, and the book has their events (S4.6)", async () => {
    const { webhooks, pauses } = await setup(open);
    const { epoch, webhookEvents } = await pauses.read();
    expect(webhookEvents).toEqual([]);
    await webhooks.create(endpoint());
    await webhooks.create(endpoint({ endpointId: "quiet", byReference: true, events: ["x"] }));
    const after = await pauses.read();
    expect(after.epoch).toBeGreaterThan(epoch);
    expect(after.webhookEvents).toEqual(["run.completed"]);
  });

  test("during a rotation a call has both secrets, and a receiver that is gone or deleted is refused (S4.6)", async () => {
    const { webhooks, journal } = await setup(open);
    await webhooks.create(endpoint({ byReference: true }));
    const key = { tenantId: TENANT, endpointId: "ops" };
    const rotated = await webhooks.rotate(key, OTHER, 60_000);
    expect(rotated?.previousUntil).toBeTypeOf("number");
    const named = { endpointId: "ops", url: null, secret: null };
    await sent(journal, named);
    const [claim] = await webhooks.claim(10);
    expect(claim).toMatchObject({ secret: OTHER, previousSecret: KEY });
    if (claim === undefined) throw new Error("nothing was due");
    const gone = { state: "dead", isGone: true, statusCode: 410 } as const;
    expect(await webhooks.settle(ended(claim, gone))).toBe(true);
    expect((await webhooks.find(key))?.disabledReason).toContain("410");
    await sent(journal, named);
    expect((await webhooks.claim(10))[0]?.refusal).toContain("switched off");
    expect(await webhooks.remove(key)).toBe(true);
    expect(await webhooks.remove(key)).toBe(false);
    await sent(journal, named);
    expect((await webhooks.claim(10))[0]?.refusal).toBe("there is no endpoint ops");
  });
}

function outbox(open: OpenStore): void {
  test("a delivery is inserted with its event or not at all, once for each receiver (S4.6)", async () => {
    const { webhooks, journal } = await setup(open);
    const runId = await begin(journal);
    const also = (tx: Transaction): void => {
      void tx.keepWebhooks([own(runId), own(runId, { place: 1, events: "run.failed" })]);
      void tx.post([posted(runId), posted(runId, { eventType: "node.started" })]);
    };
    await expect(step(journal, runId, 9, { facts: [queued()], also })).rejects.toThrow("moved on");
    expect(await webhooks.claim(10)).toEqual([]);
    await post(journal, runId, also);
    const claims = await webhooks.claim(10);
    expect(claims).toHaveLength(1);
    expect(claims[0]).toMatchObject({
      ...{ runId, epoch: 1, eventType: "node.queued", eventId: 2, nodeId: "a", attempts: 0 },
      ...{ url: URL, secret: KEY, previousSecret: null, headers: {}, refusal: "" },
      runEndedAt: null,
    });
  });

  test("a claim fences its result: a report of an earlier claim changes nothing (S4.6)", async () => {
    const { webhooks, journal } = await setup(open);
    await sent(journal);
    const [first] = await webhooks.claim(10);
    if (first === undefined) throw new Error("nothing was due");
    expect(await webhooks.claim(10)).toEqual([]);
    await webhooks.release([first], 0);
    const [second] = await webhooks.claim(10);
    expect(second).toMatchObject({ deliveryId: first.deliveryId, epoch: 2, attempts: 0 });
    if (second === undefined) throw new Error("nothing was due");
    expect(await webhooks.settle(ended(first))).toBe(false);
    expect(await webhooks.settle(ended(second))).toBe(true);
    expect(await webhooks.settle(ended(second))).toBe(false);
    await webhooks.release([second], 0);
    expect(await webhooks.claim(10)).toEqual([]);
  });
}

function repeats(open: OpenStore): void {
  test("a failed delivery waits, a released claim that is reported in time counts, and a user sends a dead one again (S4.6)", async () => {
    const { webhooks, journal } = await setup(open);
    const runId = await sent(journal);
    const [first] = await webhooks.claim(10);
    if (first === undefined) throw new Error("nothing was due");
    await webhooks.release([first], 60_000);
    const failed = { state: "pending", delayMs: 60_000, statusCode: 503, error: "503" } as const;
    expect(await webhooks.settle(ended(first, failed))).toBe(true);
    expect(await webhooks.claim(10)).toEqual([]);
    expect(await webhooks.redeliver("other", first.deliveryId)).toBeUndefined();
    const again = await webhooks.redeliver(TENANT, first.deliveryId);
    expect(again).toMatchObject({ runId, state: "pending", attempts: 1, statusCode: 503 });
    const [second] = await webhooks.claim(10);
    if (second === undefined) throw new Error("nothing was due");
    await webhooks.settle(ended(second, { state: "dead", statusCode: 500, error: "500" }));
    expect(await webhooks.redeliver(TENANT, first.deliveryId)).toMatchObject({
      ...{ state: "pending", attempts: 0, endedAt: null },
    });
    const [third] = await webhooks.claim(10);
    expect(third?.epoch).toBe(3);
    if (third === undefined) throw new Error("nothing was due");
    await webhooks.settle(ended(third));
    expect(await webhooks.forget(60_000, 10)).toBe(false);
    expect(await webhooks.redeliver(TENANT, first.deliveryId)).toBeDefined();
  });

  test("the survey counts what waits, and says when the first is due (S4.6)", async () => {
    const { webhooks, journal } = await setup(open);
    expect(await journal.survey()).toMatchObject({ webhooksPending: 0, webhookDueMs: undefined });
    await sent(journal);
    const survey = await journal.survey();
    expect(survey.webhooksPending).toBe(1);
    expect(survey.webhookDueMs).toBeLessThanOrEqual(0);
    await webhooks.claim(10);
    expect((await journal.survey()).webhookDueMs).toBeGreaterThan(0);
  });
}
