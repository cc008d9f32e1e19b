// Webhooks in memory: receivers, the outbox and the log of calls.

import { createHash } from "node:crypto";
import { LIMITS } from "@pawl/core/data/limits";
import { pairKey, type StagedRows } from "../memory/staging.ts";
import type { Tables } from "../memory/store.ts";
import type { StagedLog } from "../log/memory.ts";
import {
  CLAIM_MS,
  type ClaimedDelivery,
  type DeliveryRecord,
  type EndpointEdit,
  type EndpointKey,
  type EndpointRecord,
  type Headers,
  type NewEndpoint,
  type NewRunWebhook,
  type PostedEvent,
  type Webhooks,
} from "./webhooks.ts";

export interface EndpointRow extends Omit<NewEndpoint, "headers"> {
  readonly headers: Headers;
  readonly previousSecret: Buffer | null;
  readonly previousUntil: number | null;
  readonly disabledReason: string | null;
  readonly version: number;
  readonly createdAt: number;
  readonly updatedAt: number;
}

export interface DeliveryRow extends DeliveryRecord {
  readonly tenantId: string;
  readonly nodeId: string;
  readonly iteration: number;
  readonly target: string;
  readonly headers: Headers;
  readonly secret: Buffer | null;
  readonly result: string;
  readonly runStartedAt: number | null;
  readonly runEndedAt: number | null;
  readonly epoch: number;
}

const keyOf = ({ tenantId, endpointId }: EndpointKey): string => pairKey(tenantId, endpointId);
// The store checked the text when it got it.
const headersIn = (text: string): Headers => JSON.parse(text) as Headers;
const keyIn = (text: string | null): Buffer | null =>
  text === null ? null : Buffer.from(text, "base64");

export function keepWebhook({ runWebhooks }: StagedRows, webhook: NewRunWebhook): void {
  runWebhooks.set(webhook.runId, [...(runWebhooks.get(webhook.runId) ?? []), webhook]);
}

/** Inserts a delivery for each receiver of the event. */
export function postEvent(rows: StagedRows, log: StagedLog, posted: PostedEvent): void {
  const { back, baseId, ...event } = posted;
  const run = rows.runs.get(event.runId);
  if (run === undefined) return;
  const { tenantId, workflowId, endedAt, lastSeq } = run;
  const first = log
    .of(event.runId)
    .find(({ type }) => type === "node.started" || type === "node.blocked");
  const known = [...rows.deliveries.values()].filter(({ runId }) => runId === event.runId).length;
  if (endedAt === null && known >= LIMITS.webhookDeliveries) return;
  for (const target of targetsOf(rows, run, event.eventType)) {
    const hash = createHash("md5")
      .update(baseId + target.target)
      .digest("hex");
    const deliveryId = baseId.slice(0, 24) + hash.slice(0, 12);
    rows.deliveries.insert(
      deliveryId,
      {
        ...{ ...event, ...target, deliveryId, tenantId, workflowId, eventId: lastSeq - back },
        runStartedAt: first?.at ?? (endedAt === null ? null : run.createdAt),
        runEndedAt: endedAt,
        ...{ createdAt: rows.now, state: "pending", attempts: 0, epoch: 0, dueAt: rows.now },
        ...{ statusCode: 0, error: "", endedAt: null },
      },
      "webhook_deliveries_pkey",
    );
  }
}

type Run = NonNullable<ReturnType<StagedRows["runs"]["get"]>>;

function targetsOf(rows: StagedRows, { runId, tenantId, workflowId }: Run, type: string) {
  const endpoints = [...rows.webhookEndpoints.values()].filter((row) => row.tenantId === tenantId);
  const own = (rows.runWebhooks.get(runId) ?? [])
    .filter(({ events }) => events.split(" ").includes(type))
    .map(({ place, endpointId, url, headers, secret }) => ({
      target: `run ${place}`,
      endpointId,
      url: url ?? endpoints.find((row) => row.endpointId === endpointId)?.url ?? "",
      headers: headersIn(headers),
      secret: keyIn(secret),
    }));
  const others = endpoints
    .filter((row) => workflowId !== null && row.disabledReason === null && !row.byReference)
    .filter(({ events }) => events.includes(type))
    .filter(({ workflowIds: ids }) => ids.length === 0 || ids.includes(workflowId ?? ""))
    .map(({ endpointId, url }) => ({
      ...{ target: endpointId, endpointId, url },
      ...{ headers: {}, secret: null },
    }));
  return [...own, ...others];
}

/** Webhooks over the tables. */
export function createMemoryWebhooks(tables: Tables, now: () => number): Webhooks {
  return { ...endpointsIn(tables, now), ...outboxIn(tables, now) };
}

type Edits = "create" | "update" | "remove" | "rotate" | "find" | "count";

function endpointsIn(tables: Tables, now: () => number): Pick<Webhooks, Edits> {
  const { webhookEndpoints: rows, pauseEpoch } = tables;
  const shown = (row: EndpointRow): EndpointRecord => {
    const {
      tenantId: _,
      headers,
      secret: _key,
      previousSecret: _old,
      requestId: _id,
      ...rest
    } = row;
    const isOver = row.previousUntil === null || row.previousUntil <= now();
    const headerNames = Object.keys(headers).toSorted();
    return { ...rest, headerNames, previousUntil: isOver ? null : row.previousUntil };
  };
  const put = (row: EndpointRow): EndpointRecord => {
    rows.set(keyOf(row), row);
    pauseEpoch.value += 1;
    return shown(row);
  };
  const refusal = (row: EndpointRow, requestId: string | null) =>
    requestId !== null && row.requestId === requestId
      ? ({ kind: "repeated", endpoint: shown(row), secret: row.secret } as const)
      : undefined;
  return {
    create: async (endpoint) => {
      const row = rows.get(keyOf(endpoint));
      if (row !== undefined) return refusal(row, endpoint.requestId) ?? { kind: "exists" };
      const at = now();
      const fresh = { previousSecret: null, previousUntil: null, disabledReason: null, version: 1 };
      const headers = headersIn(endpoint.headers);
      const made = { ...endpoint, headers, ...fresh, createdAt: at, updatedAt: at };
      return { kind: "saved", endpoint: put(made) };
    },
    update: async (edit) => {
      const row = rows.get(keyOf(edit));
      if (row === undefined) return { kind: "missing" };
      if (edit.expectedVersion !== 0 && edit.expectedVersion !== row.version)
        return (
          refusal(row, edit.requestId) ?? { kind: "version_mismatch", currentVersion: row.version }
        );
      return { kind: "saved", endpoint: put(edited(row, edit, now())) };
    },
    remove: async (key) => rows.delete(keyOf(key)),
    rotate: async (key, secret, overlapMs) => {
      const row = rows.get(keyOf(key));
      if (row === undefined) return undefined;
      const previous = { previousSecret: row.secret, previousUntil: now() + overlapMs };
      return put({ ...row, ...previous, secret, version: row.version + 1, updatedAt: now() });
    },
    find: async (key) => {
      const row = rows.get(keyOf(key));
      return row && shown(row);
    },
    count: async (tenantId) => [...rows.values()].filter((row) => row.tenantId === tenantId).length,
  };
}

function edited(row: EndpointRow, edit: EndpointEdit, at: number): EndpointRow {
  const { expectedVersion: _, headers: given, ...fields } = edit;
  const headers = Object.fromEntries(
    Object.entries(headersIn(given)).map(([name, value]) => [
      name,
      value === "" ? (row.headers[name] ?? "") : value,
    ]),
  );
  return { ...row, ...fields, headers, version: row.version + 1, updatedAt: at };
}

type Sends = "claim" | "settle" | "release" | "redeliver" | "forget";

function outboxIn(tables: Tables, now: () => number): Pick<Webhooks, Sends> {
  const { deliveries, webhookAttempts } = tables;
  const isDue = (row: DeliveryRow): boolean => row.state === "pending" && row.dueAt <= now();
  return {
    claim: async (limit) =>
      [...deliveries.values()]
        .filter(isDue)
        .toSorted((a, b) => a.dueAt - b.dueAt)
        .slice(0, limit)
        .map((row) => {
          const claimed = { ...row, epoch: row.epoch + 1, dueAt: now() + CLAIM_MS };
          deliveries.set(row.deliveryId, claimed);
          return toClaimed(tables, claimed, now());
        }),
    settle: async (call) => {
      const row = deliveries.get(call.deliveryId);
      if (row?.state !== "pending" || row.epoch !== call.epoch) return false;
      const { state, delayMs, statusCode, error, latencyMs, executorId, isGone } = call;
      const endedAt = state === "pending" ? null : now();
      const after = { state, statusCode, error, endedAt, dueAt: now() + delayMs };
      deliveries.set(row.deliveryId, { ...row, ...after, attempts: row.attempts + 1 });
      const entry = { number: row.epoch, endedAt: now(), latencyMs, statusCode, error, executorId };
      webhookAttempts.set(row.deliveryId, [...(webhookAttempts.get(row.deliveryId) ?? []), entry]);
      if (isGone && row.endpointId !== null) switchOff(tables, row.tenantId, row.endpointId, now());
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

function switchOff(tables: Tables, tenantId: string, endpointId: string, at: number): void {
  const row = tables.webhookEndpoints.get(pairKey(tenantId, endpointId));
  if (row === undefined || row.disabledReason !== null) return;
  const off = { disabledReason: "the receiver answered 410 Gone", version: row.version + 1 };
  tables.webhookEndpoints.set(keyOf(row), { ...row, ...off, updatedAt: at });
}

function toRecord(row: DeliveryRow): DeliveryRecord {
  const { tenantId: _, nodeId: _node, iteration: _iteration, target: _target, ...rest } = row;
  const { headers: _headers, secret: _secret, result: _result, ...shown } = rest;
  const { runStartedAt: _began, runEndedAt: _ended, epoch: _epoch, ...record } = shown;
  return record;
}

function toClaimed(tables: Tables, row: DeliveryRow, at: number): ClaimedDelivery {
  const { tenantId, endpointId, target } = row;
  const endpoint =
    endpointId === null ? undefined : tables.webhookEndpoints.get(pairKey(tenantId, endpointId));
  const isOld = (endpoint?.previousUntil ?? 0) <= at;
  const { runId, deliveryId, epoch, eventType, eventId, nodeId, iteration, result } = row;
  const { createdAt, runStartedAt, runEndedAt, attempts } = row;
  return {
    ...{ runId, deliveryId, epoch, eventType, eventId, nodeId, iteration, result },
    ...{ createdAt, runStartedAt, runEndedAt, attempts },
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

/** The figures of a survey. */
export function surveyWebhooks({ deliveries }: Tables, at: number) {
  const due = [...deliveries.values()].flatMap(({ state, dueAt }) =>
    state === "pending" ? [dueAt - at] : [],
  );
  return {
    webhooksPending: due.length,
    webhookDueMs: due.length === 0 ? undefined : Math.min(...due),
  };
}

/** The events that receivers get of runs that do not name them. */
export function subscribedEvents({ webhookEndpoints }: Tables): string[] {
  const open = [...webhookEndpoints.values()].filter(
    (row) => row.disabledReason === null && !row.byReference,
  );
  return [...new Set(open.flatMap(({ events }) => events))].toSorted();
}
