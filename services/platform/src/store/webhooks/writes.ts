// Writes webhooks. The tick inserts the receivers of a run and the deliveries of its events in its transaction. The scheduler claims and
// settles deliveries, each with one statement.

import type { RunId } from "@pawl/core/name/ids";
import { bytes, flag, list, lists, number, text, uuid } from "../../db/columns.ts";
import type { Pool } from "../../db/pool.ts";
import {
  columns,
  fieldsOf,
  first,
  queriesBeside,
  type Queryable,
  run,
  type Send,
  valuesOf,
} from "../../db/query.ts";
import { getEndpoint } from "./reads.ts";
import {
  CLAIM,
  CLAIM_MS,
  CLAIMED,
  DELIVERY,
  EDIT,
  ENDPOINT,
  ENDPOINT_KEY,
  type EndpointKey,
  LOOKED_AT,
  NEW_ENDPOINT,
  type NewRunWebhook,
  POSTED,
  type PostedEvent,
  RUN_WEBHOOK,
  type SaveEndpointResult,
  SETTLED,
  type Webhooks,
} from "./webhooks.ts";

const declare = queriesBeside(import.meta.url);

const takeTurn = declare("take_turn", {}, { turn: number() });
const create = declare("create", { ...NEW_ENDPOINT, most: number() }, ENDPOINT);
const update = declare("update", EDIT, ENDPOINT);
const remove = declare("remove", ENDPOINT_KEY, { endpointId: text() });
const rotate = declare(
  "rotate",
  { ...ENDPOINT_KEY, secret: bytes(), overlapMs: number() },
  ENDPOINT,
);
const REQUEST = { ...ENDPOINT_KEY, requestId: NEW_ENDPOINT.requestId };
const kept = declare("kept", REQUEST, { isRepeat: flag(), secret: bytes(), version: number() });
const keep = declare("keep", lists(RUN_WEBHOOK));
const post = declare("post", lists(POSTED));
const claim = declare(
  "claim",
  {
    ...{ limit: number(), leaseMs: number(), share: number(), lookedAt: number() },
    ...{ busy: list(text()), calls: list(number()) },
  },
  CLAIMED,
);
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
export const createWebhooks = (db: Pool): Webhooks => ({
  create: (endpoint, most) =>
    db.transaction(async (tx) => {
      await run(tx, takeTurn, {});
      const made = await first(tx, create, { ...endpoint, most });
      if (made !== undefined) return { kind: "saved", endpoint: made };
      const row = await first(tx, kept, endpoint);
      if (row === undefined) return { kind: "full" };
      return (await repeated(tx, endpoint, row)) ?? { kind: "exists" };
    }),
  update: async (edit) => {
    const made = await first(db, update, edit);
    if (made !== undefined) return { kind: "saved", endpoint: made };
    const row = await first(db, kept, edit);
    if (row === undefined) return { kind: "missing" };
    const mismatch = { kind: "version_mismatch", currentVersion: row.version } as const;
    return (await repeated(db, edit, row)) ?? mismatch;
  },
  remove: async (key) => (await run(db, remove, key)).length > 0,
  rotate: (key, secret, overlapMs) => first(db, rotate, { ...key, secret, overlapMs }),
  find: (key) => getEndpoint(db, key),
  claim: (limit, { share, busy }) =>
    run(db, claim, {
      ...{ limit, share, leaseMs: CLAIM_MS, lookedAt: LOOKED_AT },
      ...{ busy: [...busy.keys()], calls: [...busy.values()] },
    }),
  settle: async (call) => (await run(db, settle, call)).length > 0,
  release: async (claims, graceMs) => {
    if (claims.length === 0) return;
    await run(db, release, { ...columns(claims, fieldsOf(CLAIM)), graceMs });
  },
  redeliver: (tenantId, deliveryId) =>
    first(db, redeliver, { tenantId, deliveryId, leaseMs: CLAIM_MS }),
  forget: async (olderThanMs, limit) =>
    (await run(db, forget, { olderThanMs, limit })).length === limit,
});

/** The receiver, if this request wrote it before. */
async function repeated(
  db: Queryable,
  key: EndpointKey,
  row: { readonly isRepeat: boolean; readonly secret: Buffer },
): Promise<SaveEndpointResult | undefined> {
  const endpoint = row.isRepeat ? await getEndpoint(db, key) : undefined;
  return endpoint && { kind: "repeated", endpoint, secret: row.secret };
}

/** Stores the receivers of runs that begin in this transaction. */
export async function keepRunWebhooks(send: Send, all: readonly NewRunWebhook[]): Promise<void> {
  await send(keep, valuesOf(keep, all));
}

/** Inserts a delivery for each receiver of each event. */
export async function postEvents(send: Send, events: readonly PostedEvent[]): Promise<void> {
  await send(post, valuesOf(post, events));
}
