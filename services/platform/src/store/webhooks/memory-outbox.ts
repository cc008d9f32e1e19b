// The outbox of webhooks in memory, and the log of calls.

import { pairKey } from "../memory/staging.ts";
import type { Tables } from "../memory/store.ts";
import type { DeliveryRow, EndpointRow } from "./memory.ts";
import {
  CLAIM_MS,
  type ClaimedDelivery,
  type DeliveryRecord,
  LOOKED_AT,
  type Webhooks,
} from "./webhooks.ts";

type Sends = "claim" | "settle" | "release" | "redeliver" | "forget";

/** The outbox over the tables. */
export function outboxIn(tables: Tables, now: () => number): Pick<Webhooks, Sends> {
  const { deliveries, webhookAttempts } = tables;
  const isDue = (row: DeliveryRow): boolean => row.state === "pending" && row.dueAt <= now();
  return {
    claim: async (limit, { share, busy }) => {
      const calls = new Map(busy);
      const callsOf = (row: DeliveryRow): number => calls.get(receiverOf(row)) ?? 0;
      const hasRoom = (row: DeliveryRow): boolean => callsOf(row) < share;
      return [...deliveries.values()]
        .filter((row) => isDue(row) && hasRoom(row))
        .toSorted((a, b) => a.dueAt - b.dueAt)
        .slice(0, LOOKED_AT)
        .filter((row) => {
          if (!hasRoom(row)) return false;
          calls.set(receiverOf(row), callsOf(row) + 1);
          return true;
        })
        .slice(0, limit)
        .map((row) => {
          const claimed = { ...row, epoch: row.epoch + 1, dueAt: now() + CLAIM_MS };
          deliveries.set(row.deliveryId, claimed);
          return toClaimed(tables, claimed, now());
        });
    },
    settle: async (call) => {
      const row = deliveries.get(call.deliveryId);
      if (row?.state !== "pending" || row.epoch !== call.epoch) return false;
      const { state, delayMs, statusCode, error, latencyMs, executorId, isGone } = call;
      const endedAt = state === "pending" ? null : now();
      const after = { state, statusCode, error, endedAt, dueAt: now() + delayMs };
      deliveries.set(row.deliveryId, { ...row, ...after, attempts: row.attempts + 1 });
      const entry = { number: row.epoch, endedAt: now(), latencyMs, statusCode, error, executorId };
      webhookAttempts.set(row.deliveryId, [...(webhookAttempts.get(row.deliveryId) ?? []), entry]);
      if (isGone) closeReceiver(tables, row, now());
      return true;
    },
    release: async (claims, graceMs) => {
      for (const { deliveryId, epoch } of claims) {
        const row = deliveries.get(deliveryId);
        if (row?.state !== "pending" || row.epoch !== epoch) continue;
        deliveries.set(deliveryId, { ...row, dueAt: Math.min(row.dueAt, now() + graceMs) });
      }
    },
    redeliver: async (tenantId, deliveryId) => {
      const row = deliveries.get(deliveryId);
      if (row?.tenantId !== tenantId) return undefined;
      const isPending = row.state === "pending";
      const attempts = isPending ? row.attempts : 0;
      const isSoon = isPending && row.dueAt <= now() + CLAIM_MS;
      const dueAt = isSoon ? row.dueAt : now();
      const after: DeliveryRow = { ...row, state: "pending", attempts, dueAt, endedAt: null };
      deliveries.set(deliveryId, after);
      return toRecord(after);
    },
    forget: async (olderThanMs, limit) => {
      const isOld = ({ endedAt }: DeliveryRow): boolean =>
        endedAt !== null && endedAt < now() - olderThanMs;
      const old = [...deliveries.values()].filter(isOld).slice(0, limit);
      for (const { deliveryId } of old) {
        deliveries.delete(deliveryId);
        webhookAttempts.delete(deliveryId);
      }
      return old.length === limit;
    },
  };
}

/** The endpoint, or the host of the URL. */
const receiverOf = ({ endpointId, url }: DeliveryRow): string =>
  endpointId ?? /^[a-z]+:\/\/([^/?#]*)/.exec(url.toLowerCase())?.[1] ?? url;

/** The receiver wants no more: its endpoint is switched off, or it gets nothing more of this run. */
function closeReceiver(tables: Tables, gone: DeliveryRow, at: number): void {
  const { runId, tenantId, endpointId, target, deliveryId } = gone;
  if (endpointId !== null) return switchOff(tables, tenantId, endpointId, at);
  const own = tables.runWebhooks.get(runId) ?? [];
  tables.runWebhooks.set(
    runId,
    own.filter(({ place }) => target !== `run ${place}`),
  );
  const error = "the receiver answered 410 Gone to another event of this run";
  for (const row of tables.deliveries.values()) {
    const isOther = row.runId === runId && row.target === target && row.deliveryId !== deliveryId;
    if (isOther && row.state === "pending")
      tables.deliveries.set(row.deliveryId, { ...row, state: "dead", error, endedAt: at });
  }
}

function switchOff(tables: Tables, tenantId: string, endpointId: string, at: number): void {
  const row = tables.webhookEndpoints.get(pairKey(tenantId, endpointId));
  if (row === undefined || row.disabledReason !== null) return;
  const off = { disabledReason: "the receiver answered 410 Gone", version: row.version + 1 };
  tables.webhookEndpoints.set(pairKey(row.tenantId, row.endpointId), {
    ...row,
    ...off,
    updatedAt: at,
  });
}

function toRecord(row: DeliveryRow): DeliveryRecord {
  const { tenantId: _, nodeId: _node, iteration: _iteration, target: _target, ...rest } = row;
  const { headers: _headers, secret: _secret, result: _result, ...shown } = rest;
  const { runStartedAt: _began, runEndedAt: _ended, epoch: _epoch, ...known } = shown;
  const { traceparent: _trace, lastEventId: _last, ...record } = known;
  return record;
}

function toClaimed(tables: Tables, row: DeliveryRow, at: number): ClaimedDelivery {
  const { tenantId, endpointId, target } = row;
  const endpoint =
    endpointId === null ? undefined : tables.webhookEndpoints.get(pairKey(tenantId, endpointId));
  const isOld = (endpoint?.previousUntil ?? 0) <= at;
  const { runId, deliveryId, epoch, eventType, eventId, nodeId, iteration, result } = row;
  const { createdAt, runStartedAt, runEndedAt, attempts, traceparent, lastEventId } = row;
  return {
    ...{ runId, deliveryId, epoch, eventType, eventId, nodeId, iteration, result, lastEventId },
    ...{ createdAt, runStartedAt, runEndedAt, attempts, traceparent, receiver: receiverOf(row) },
    url: target === endpointId ? (endpoint?.url ?? row.url) : row.url,
    headers: { ...endpoint?.headers, ...row.headers },
    secret: endpoint?.secret ?? row.secret,
    previousSecret: isOld ? null : (endpoint?.previousSecret ?? null),
    refusal: refusalOf(endpointId, endpoint),
  };
}

function refusalOf(endpointId: string | null, endpoint: EndpointRow | undefined): string {
  if (endpointId === null) return "";
  if (endpoint === undefined) return `there is no endpoint ${endpointId}`;
  const { disabledReason } = endpoint;
  return disabledReason === null ? "" : `the endpoint is switched off: ${disabledReason}`;
}
