// The promises of every store about webhooks: receivers, the outbox and the log of calls.

import type { Shares } from "@pawl/platform/store/webhooks/webhooks";
import type { Transaction } from "@pawl/platform/store/tick/journal";
import { describe, expect, test } from "vitest";
import { begin, completed, EXECUTOR, queued, started, step } from "./facts.ts";
import { setup } from "./setup.ts";
import type { OpenStore } from "./store.ts";
import {
  ALL,
  ended,
  endpoint,
  KEY,
  MOST,
  OTHER,
  own,
  post,
  posted,
  sent,
  TENANT,
  URL,
} from "./webhook-facts.ts";

/** All promises about webhooks on one kind of store. */
export function webhookSuite(name: string, open: OpenStore): void {
  describe(`webhooks on ${name}`, () => {
    receivers(open);
    repeatedEdits(open);
    secrets(open);
    outbox(open);
    shared(open);
    repeats(open);
  });
}

function receivers(open: OpenStore): void {
  test("an endpoint is made once; a repeat of its request gives it with its secret", async () => {
    const { webhooks } = await setup(open);
    const asked = endpoint({ requestId: "r-1" });
    const made = await webhooks.create(asked, MOST);
    expect(made).toMatchObject({
      kind: "saved",
      endpoint: { endpointId: "ops", version: 1, headerNames: ["x-a"], disabledReason: null },
    });
    expect(JSON.stringify(made)).not.toContain("secret");
    expect(await webhooks.create(asked, MOST)).toMatchObject({ kind: "repeated", secret: KEY });
    expect(await webhooks.create(endpoint({ requestId: "r-2" }), MOST)).toEqual({ kind: "exists" });
  });

  test("an edit names the version that it read, and an empty header keeps its value", async () => {
    const { webhooks, journal } = await setup(open);
    await webhooks.create(endpoint({ byReference: true }), MOST);
    const { secret: _secret, ...fields } = endpoint({ byReference: true });
    const edit = { ...fields, headers: '{"x-a":"","x-b":"2"}', disabledReason: null };
    const first = await webhooks.update({ ...edit, expectedVersion: 1 });
    expect(first).toMatchObject({ kind: "saved", endpoint: { version: 2 } });
    const late = await webhooks.update({ ...edit, expectedVersion: 1 });
    expect(late).toEqual({ kind: "version_mismatch", currentVersion: 2 });
    const none = { ...edit, endpointId: "none", expectedVersion: 0 };
    expect(await webhooks.update(none)).toEqual({ kind: "missing" });
    await sent(journal, { endpointId: "ops", url: null, secret: null });
    const [claim] = await webhooks.claim(10, ALL);
    expect(claim).toMatchObject({ url: URL, headers: { "x-a": "1", "x-b": "2" }, refusal: "" });
  });

  test("a change of the receivers raises the epoch of the pauses, and the book has their events (S4.6)", async () => {
    const { webhooks, pauses } = await setup(open);
    const { epoch, webhookEvents } = await pauses.read();
    expect(webhookEvents).toEqual([]);
    await webhooks.create(endpoint(), MOST);
    await webhooks.create(
      endpoint({ endpointId: "quiet", byReference: true, events: ["x"] }),
      MOST,
    );
    const after = await pauses.read();
    expect(after.epoch).toBeGreaterThan(epoch);
    expect(after.webhookEvents).toEqual(["run.completed"]);
  });
}

function repeatedEdits(open: OpenStore): void {
  test("there are at most so many endpoints, also of creations at once, and a repeat of the last one still gives it", async () => {
    const { webhooks } = await setup(open);
    const asked = ["a", "b", "c"].map((endpointId) =>
      endpoint({ endpointId, requestId: `r-${endpointId}` }),
    );
    const made = await Promise.all(asked.map((each) => webhooks.create(each, 2)));
    expect(made.map(({ kind }) => kind).toSorted()).toEqual(["full", "saved", "saved"]);
    const again = await Promise.all(asked.map((each) => webhooks.create(each, 2)));
    expect(again.map(({ kind }) => kind).toSorted()).toEqual(["full", "repeated", "repeated"]);
  });

  test("a repeated edit changes nothing, also after the edit of another user and without an expected version", async () => {
    const { webhooks } = await setup(open);
    await webhooks.create(endpoint({ requestId: "r-1" }), MOST);
    const { secret: _secret, ...fields } = endpoint();
    const edit = (description: string, requestId: string | null) =>
      webhooks.update({
        ...{ ...fields, description, requestId },
        ...{ disabledReason: null, expectedVersion: 0 },
      });
    expect(await edit("mine", "r-2")).toMatchObject({ kind: "saved", endpoint: { version: 2 } });
    expect(await edit("mine", "r-2")).toMatchObject({ kind: "repeated", endpoint: { version: 2 } });
    expect(await edit("theirs", null)).toMatchObject({ kind: "saved" });
    const kept = { version: 3, description: "theirs" };
    expect(await edit("mine", "r-2")).toMatchObject({ kind: "repeated", endpoint: kept });
    expect(await edit("theirs", null)).toMatchObject({ kind: "saved", endpoint: { version: 4 } });
  });
}

function secrets(open: OpenStore): void {
  test("during a rotation a call has both secrets and after it only the new one, and a receiver that is gone or deleted is refused (S4.6)", async () => {
    const { webhooks, journal } = await setup(open);
    await webhooks.create(endpoint({ byReference: true }), MOST);
    const key = { tenantId: TENANT, endpointId: "ops" };
    const rotated = await webhooks.rotate(key, OTHER, 60_000);
    expect(rotated?.previousUntil).toBeTypeOf("number");
    const named = { endpointId: "ops", url: null, secret: null };
    await sent(journal, named);
    const [claim] = await webhooks.claim(10, ALL);
    expect(claim).toMatchObject({ secret: OTHER, previousSecret: KEY });
    if (claim === undefined) throw new Error("nothing was due");
    expect((await webhooks.rotate(key, KEY, 0))?.previousUntil).toBeNull();
    await webhooks.release([claim], 0);
    const [alone] = await webhooks.claim(10, ALL);
    expect(alone).toMatchObject({ secret: KEY, previousSecret: null });
    if (alone === undefined) throw new Error("nothing was due");
    const gone = { state: "dead", isGone: true, statusCode: 410 } as const;
    expect(await webhooks.settle(ended(alone, gone))).toBe(true);
    expect((await webhooks.find(key))?.disabledReason).toContain("410");
    await sent(journal, named);
    expect((await webhooks.claim(10, ALL))[0]?.refusal).toContain("switched off");
    expect(await webhooks.remove(key)).toBe(true);
    expect(await webhooks.remove(key)).toBe(false);
    await sent(journal, named);
    expect((await webhooks.claim(10, ALL))[0]?.refusal).toBe("there is no endpoint ops");
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
    expect(await webhooks.claim(10, ALL)).toEqual([]);
    await post(journal, runId, also);
    const claims = await webhooks.claim(10, ALL);
    expect(claims).toHaveLength(1);
    expect(claims[0]).toMatchObject({
      ...{ runId, epoch: 1, eventType: "node.queued", eventId: 2, nodeId: "a", attempts: 0 },
      ...{ url: URL, secret: KEY, previousSecret: null, headers: {}, refusal: "" },
      ...{ runEndedAt: null, lastEventId: 2, traceparent: null, receiver: "example.com" },
    });
  });

  test("a delivery has the trace of its run, and the last event that its record knows (S4.6)", async () => {
    const { webhooks, journal } = await setup(open);
    const traceparent = "00-1af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01";
    const runId = await begin(journal, { traceparent });
    await step(journal, runId, 1, {
      facts: [queued(), started(EXECUTOR)],
      also: (tx) => {
        void tx.keepWebhooks([own(runId)]);
        void tx.post([posted(runId, { back: 1 })]);
      },
    });
    const [claim] = await webhooks.claim(10, ALL);
    expect(claim).toMatchObject({ eventId: 2, lastEventId: 3, traceparent });
  });
}

function shared(open: OpenStore): void {
  test("a receiver gets at most its share of the calls at once, and its backlog does not hide other receivers (S4.6)", async () => {
    const { webhooks, journal } = await setup(open);
    for (let at = 0; at < 3; at += 1) await sent(journal);
    await sent(journal, { url: "https://Other.example.com:8443/x" });
    const called = async (shares: Shares) =>
      (await webhooks.claim(10, shares)).map(({ receiver }) => receiver).toSorted();
    const two = { share: 2, busy: new Map([["example.com", 1]]) };
    expect(await called(two)).toEqual(["example.com", "other.example.com:8443"]);
    expect(await called({ share: 2, busy: new Map([["example.com", 2]]) })).toEqual([]);
    expect(await called(ALL)).toEqual(["example.com", "example.com"]);
  });

  test("a receiver without an endpoint that answers 410 gets no further event of its run (S4.6)", async () => {
    const { webhooks, journal } = await setup(open);
    const runId = await begin(journal);
    const other = own(runId, { place: 1, url: "https://other.example.com/" });
    await post(journal, runId, (tx) => {
      void tx.keepWebhooks([own(runId), other]);
      void tx.post([posted(runId)]);
    });
    const claims = await webhooks.claim(10, ALL);
    await step(journal, runId, 2, {
      facts: [started(EXECUTOR)],
      also: (tx) => void tx.post([posted(runId)]),
    });
    const first = claims.find(({ url }) => url === URL);
    if (first === undefined) throw new Error("nothing was due");
    await webhooks.settle(ended(first, { state: "dead", isGone: true, statusCode: 410 }));
    await step(journal, runId, 3, {
      facts: [completed(3)],
      also: (tx) => void tx.post([posted(runId)]),
    });
    const later = await webhooks.claim(10, ALL);
    expect(later.map(({ url, eventId }) => `${eventId} ${url}`).toSorted()).toEqual([
      "3 https://other.example.com/",
      "4 https://other.example.com/",
    ]);
  });

  test("a claim fences its result: a report of an earlier claim changes nothing (S4.6)", async () => {
    const { webhooks, journal } = await setup(open);
    await sent(journal);
    const [first] = await webhooks.claim(10, ALL);
    if (first === undefined) throw new Error("nothing was due");
    expect(await webhooks.claim(10, ALL)).toEqual([]);
    await webhooks.release([first], 0);
    const [second] = await webhooks.claim(10, ALL);
    expect(second).toMatchObject({ deliveryId: first.deliveryId, epoch: 2, attempts: 0 });
    if (second === undefined) throw new Error("nothing was due");
    expect(await webhooks.settle(ended(first))).toBe(false);
    expect(await webhooks.settle(ended(second))).toBe(true);
    expect(await webhooks.settle(ended(second))).toBe(false);
    await webhooks.release([second], 0);
    expect(await webhooks.claim(10, ALL)).toEqual([]);
  });
}

function repeats(open: OpenStore): void {
  test("a failed delivery waits, a released claim that is reported in time counts, and a user sends a dead one again (S4.6)", async () => {
    const { webhooks, journal } = await setup(open);
    const runId = await sent(journal);
    const [first] = await webhooks.claim(10, ALL);
    if (first === undefined) throw new Error("nothing was due");
    await webhooks.release([first], 60_000);
    const failed = { state: "pending", delayMs: 60_000, statusCode: 503, error: "503" } as const;
    expect(await webhooks.settle(ended(first, failed))).toBe(true);
    expect(await webhooks.claim(10, ALL)).toEqual([]);
    expect(await webhooks.redeliver("other", first.deliveryId)).toBeUndefined();
    const again = await webhooks.redeliver(TENANT, first.deliveryId);
    expect(again).toMatchObject({ runId, state: "pending", attempts: 1, statusCode: 503 });
    const [second] = await webhooks.claim(10, ALL);
    if (second === undefined) throw new Error("nothing was due");
    await webhooks.settle(ended(second, { state: "dead", statusCode: 500, error: "500" }));
    expect(await webhooks.redeliver(TENANT, first.deliveryId)).toMatchObject({
      ...{ state: "pending", attempts: 0, endedAt: null },
    });
    const [third] = await webhooks.claim(10, ALL);
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
    await webhooks.claim(10, ALL);
    expect((await journal.survey()).webhookDueMs).toBeGreaterThan(0);
  });
}
