// Webhooks in memory: receivers, and what a tick inserts.

import { createHash } from "node:crypto";
import { LIMITS } from "@pawl/core/data/limits";
import { pairKey, type StagedRows } from "../memory/staging.ts";
import type { Tables } from "../memory/store.ts";
import type { StagedLog } from "../log/memory.ts";
import {
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
import { outboxIn } from "./memory-outbox.ts";

export interface EndpointRow extends Omit<NewEndpoint, "headers"> {
  readonly headers: Headers;
  /** The requests that wrote it before the last one, the newest first. */
  readonly pastRequests: readonly string[];
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
  readonly traceparent: string | null;
  readonly lastEventId: number;
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
  const { tenantId, workflowId, endedAt, lastSeq, traceparent } = run;
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
        ...{ runEndedAt: endedAt, traceparent, lastEventId: lastSeq },
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

type Edits = "create" | "update" | "remove" | "rotate" | "find";

function endpointsIn(tables: Tables, now: () => number): Pick<Webhooks, Edits> {
  const { webhookEndpoints: rows, pauseEpoch } = tables;
  const shown = (row: EndpointRow): EndpointRecord => {
    const {
      tenantId: _,
      headers,
      secret: _key,
      previousSecret: _old,
      requestId: _id,
      pastRequests: _ids,
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
  const repeated = (row: EndpointRow, requestId: string | null) =>
    requestId !== null && [row.requestId, ...row.pastRequests].includes(requestId)
      ? ({ kind: "repeated", endpoint: shown(row), secret: row.secret } as const)
      : undefined;
  return {
    create: async (endpoint, most) => {
      const row = rows.get(keyOf(endpoint));
      if (row !== undefined) return repeated(row, endpoint.requestId) ?? { kind: "exists" };
      const { tenantId } = endpoint;
      if ([...rows.values()].filter((other) => other.tenantId === tenantId).length >= most)
        return { kind: "full" };
      const at = now();
      const fresh = { previousSecret: null, previousUntil: null, disabledReason: null, version: 1 };
      const headers = headersIn(endpoint.headers);
      const made = { ...endpoint, headers, ...fresh, pastRequests: [] };
      return { kind: "saved", endpoint: put({ ...made, createdAt: at, updatedAt: at }) };
    },
    update: async (edit) => {
      const row = rows.get(keyOf(edit));
      if (row === undefined) return { kind: "missing" };
      const repeat = repeated(row, edit.requestId);
      if (repeat !== undefined) return repeat;
      if (edit.expectedVersion !== 0 && edit.expectedVersion !== row.version)
        return { kind: "version_mismatch", currentVersion: row.version };
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
  };
}

/** As many as the statement keeps. */
const PAST_REQUESTS_MAX = 16;

function edited(row: EndpointRow, edit: EndpointEdit, at: number): EndpointRow {
  const { expectedVersion: _, headers: given, ...fields } = edit;
  const headers = Object.fromEntries(
    Object.entries(headersIn(given)).map(([name, value]) => [
      name,
      value === "" ? (row.headers[name] ?? "") : value,
    ]),
  );
  const pastRequests = [...(row.requestId === null ? [] : [row.requestId]), ...row.pastRequests];
  const kept = { headers, pastRequests: pastRequests.slice(0, PAST_REQUESTS_MAX) };
  return { ...row, ...fields, ...kept, version: row.version + 1, updatedAt: at };
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
