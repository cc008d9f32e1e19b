// Writes webhooks. The tick inserts the receivers of a run and the deliveries of its events in its transaction. The scheduler claims and
// settles deliveries, each with one statement.

import type { RunId } from "@pawl/core/name/ids";
import { bytes, lists, number, orNull, text, uuid } from "../../db/columns.ts";
import { first, queriesBeside, type Queryable, run, type Send, valuesOf } from "../../db/query.ts";
import { getEndpoint } from "./reads.ts";
import {
  CLAIM,
  CLAIM_MS,
  CLAIMED,
  DELIVERY,
  EDIT,
  ENDPOINT,
  ENDPOINT_KEY,
  NEW_ENDPOINT,
  type NewRunWebhook,
  POSTED,
  type PostedEvent,
  RUN_WEBHOOK,
  SETTLED,
  type Webhooks,
} from "./webhooks.ts";

const declare = queriesBeside(import.meta.url);

const create = declare("create", NEW_ENDPOINT, ENDPOINT);
const update = declare("update", EDIT, ENDPOINT);
const remove = declare("remove", ENDPOINT_KEY, { endpointId: text() });
const rotate = declare(
  "rotate",
  { ...ENDPOINT_KEY, secret: bytes(), overlapMs: number() },
  ENDPOINT,
);
const KEPT = { requestId: orNull(text()), secret: bytes(), version: number() };
const kept = declare("kept", ENDPOINT_KEY, KEPT);
const countEndpoints = declare("count_endpoints", { tenantId: text() }, { count: number() });
const keep = declare("keep", lists(RUN_WEBHOOK));
const post = declare("post", lists(POSTED));
const claim = declare("claim", { limit: number(), leaseMs: number() }, CLAIMED);
const settle = declare("settle", SETTLED, { runId: uuid<RunId>() });
const release = declare("release", { ...lists(CLAIM), graceMs: number() });
const redeliver = declare(
  "redeliver",
  { tenantId: text(), deliveryId: uuid(), leaseMs: number() },
  DELIVERY,
);
const forget = declare(
  "forget",
  { olderThanMs: number(), limit: number() },
  { deliveryId: uuid() },
);

/** Webhooks over a pool. */
export const createWebhooks = (db: Queryable): Webhooks => ({
  create: async (endpoint) => {
    const made = await first(db, create, endpoint);
    if (made !== undefined) return { kind: "saved", endpoint: made };
    const row = await first(db, kept, endpoint);
    const isRepeat = row?.requestId !== null && row?.requestId === endpoint.requestId;
    const found = isRepeat ? await getEndpoint(db, endpoint) : undefined;
    if (row === undefined || found === undefined) return { kind: "exists" };
    return { kind: "repeated", endpoint: found, secret: row.secret };
  },
  update: async (edit) => {
    const made = await first(db, update, edit);
    if (made !== undefined) return { kind: "saved", endpoint: made };
    const row = await first(db, kept, edit);
    if (row === undefined) return { kind: "missing" };
    const isRepeat = row.requestId !== null && row.requestId === edit.requestId;
    const found = isRepeat ? await getEndpoint(db, edit) : undefined;
    if (found !== undefined) return { kind: "repeated", endpoint: found, secret: row.secret };
    return { kind: "version_mismatch", currentVersion: row.version };
  },
  remove: async (key) => (await run(db, remove, key)).length > 0,
  rotate: (key, secret, overlapMs) => first(db, rotate, { ...key, secret, overlapMs }),
  find: (key) => getEndpoint(db, key),
  count: async (tenantId) => (await first(db, countEndpoints, { tenantId }))?.count ?? 0,
  claim: (limit) => run(db, claim, { limit, leaseMs: CLAIM_MS }),
  settle: async (call) => (await run(db, settle, call)).length > 0,
  release: async (claims, graceMs) => {
    if (claims.length === 0) return;
    await run(db, release, {
      runId: claims.map(({ runId }) => runId),
      deliveryId: claims.map(({ deliveryId }) => deliveryId),
      epoch: claims.map(({ epoch }) => epoch),
      graceMs,
    });
  },
  redeliver: (tenantId, deliveryId) =>
    first(db, redeliver, { tenantId, deliveryId, leaseMs: CLAIM_MS }),
  forget: async (olderThanMs, limit) =>
    (await run(db, forget, { olderThanMs, limit })).length === limit,
});

/** Stores the receivers of runs that begin in this transaction. */
export async function keepRunWebhooks(send: Send, all: readonly NewRunWebhook[]): Promise<void> {
  await send(keep, valuesOf(keep, all));
}

/** Inserts a delivery for each receiver of each event. */
export async function postEvents(send: Send, events: readonly PostedEvent[]): Promise<void> {
  await send(post, valuesOf(post, events));
}
