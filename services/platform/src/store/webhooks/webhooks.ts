// Webhooks: receivers, and the outbox of deliveries. The tick inserts a delivery in the transaction of its event (`Transaction.post`).
//
// A delivery is a claim of its own: the row has the epoch of the claim, and the time at which the claim ends. Races. Two schedulers look for
// due deliveries at once: each locks its rows and skips those of the other. Two users create receivers at once: they take turns at the row
// of the pause epoch, so the limit holds. A request to edit a receiver is repeated after another user's edit: the row names the requests
// that wrote it, and the repeat changes nothing. An executor reports a claim that has ended: the epoch differs,
// and nothing changes. An executor dies after its call and before its report: the claim ends, and the next one sends the same id again.

import { LIMITS } from "@pawl/core/data/limits";
import type { DeliveryState } from "@pawl/core/policy/webhook";
import type { RunId } from "@pawl/core/name/ids";
import { bytes, flag, json, list, number, orNull, text, time, uuid } from "../../db/columns.ts";
import type { Typed } from "../../db/query.ts";
import type { Page } from "../page.ts";

/** How long a claim lasts: the call, and the messages about it. */
export const CLAIM_MS = LIMITS.webhookTimeoutMs + 15_000;

export type Headers = Readonly<Record<string, string>>;

export const ENDPOINT_KEY = { tenantId: text(), endpointId: text() };
/** What a user writes of a receiver. */
const SPEC = {
  url: text(),
  description: text(),
  events: list(text()),
  /** Empty means all. */
  workflowIds: list(text()),
  byReference: flag(),
};
/** The columns of a receiver that readers see. It has the names of its headers and no secret. */
export const ENDPOINT = {
  endpointId: text(),
  ...SPEC,
  headerNames: list(text()),
  version: number(),
  /** Null while it is on. */
  disabledReason: orNull(text()),
  previousUntil: orNull(time()),
  createdAt: time(),
  updatedAt: time(),
};
/** A new receiver. Headers are JSON text. */
export const NEW_ENDPOINT = {
  ...ENDPOINT_KEY,
  ...SPEC,
  headers: text(),
  secret: bytes(),
  requestId: orNull(text()),
};
export const EDIT = {
  ...ENDPOINT_KEY,
  ...SPEC,
  headers: text(),
  disabledReason: orNull(text()),
  requestId: orNull(text()),
  /** 0 replaces any version. */
  expectedVersion: number(),
};

export type EndpointKey = Typed<typeof ENDPOINT_KEY>;
export type EndpointSpec = Typed<typeof SPEC>;
export type EndpointRecord = Typed<typeof ENDPOINT>;
export type NewEndpoint = Typed<typeof NEW_ENDPOINT>;
export type EndpointEdit = Typed<typeof EDIT>;
export type EndpointPage = Page<EndpointRecord>;

/** A receiver of events of one run. Headers are JSON text, and the secret is base64. */
export const RUN_WEBHOOK = {
  runId: uuid<RunId>(),
  place: number(),
  /** The types with spaces between them. */
  events: text(),
  endpointId: orNull(text()),
  url: orNull(text()),
  headers: text(),
  secret: orNull(text()),
};
export type NewRunWebhook = Typed<typeof RUN_WEBHOOK>;

/** An event that receivers may get. Its seq is its run's last seq minus `back`. */
export const POSTED = {
  runId: uuid<RunId>(),
  back: number(),
  eventType: text(),
  nodeId: text(),
  iteration: number(),
  result: text(),
  /** A UUIDv7. Each delivery of the event keeps its time. */
  baseId: uuid(),
};
export type PostedEvent = Typed<typeof POSTED>;

export const DELIVERY_KEY = { runId: uuid<RunId>(), deliveryId: uuid() };
export const CLAIM = { ...DELIVERY_KEY, epoch: number() };
/** A delivery to call. */
export const CLAIMED = {
  ...CLAIM,
  eventType: text(),
  eventId: number(),
  nodeId: text(),
  iteration: number(),
  result: text(),
  lastEventId: orNull(number()),
  createdAt: time(),
  runStartedAt: orNull(time()),
  runEndedAt: orNull(time()),
  attempts: number(),
  /** Of the run. Null if it began without a trace. */
  traceparent: orNull(text()),
  /** The endpoint, or the host of the URL. */
  receiver: text(),
  url: text(),
  headers: json<Headers>(),
  secret: orNull(bytes()),
  previousSecret: orNull(bytes()),
  /** Why it must not be called; empty if it may. */
  refusal: text(),
};
export type DeliveryKey = Typed<typeof DELIVERY_KEY>;
export type DeliveryClaim = Typed<typeof CLAIM>;
export type ClaimedDelivery = Typed<typeof CLAIMED>;
/** A call that an executor makes now. */
export type HeldCall = DeliveryClaim & Pick<ClaimedDelivery, "receiver">;

/** A delivery as readers see it. */
export const DELIVERY = {
  ...DELIVERY_KEY,
  workflowId: orNull(text()),
  eventType: text(),
  eventId: number(),
  endpointId: orNull(text()),
  url: text(),
  state: text<DeliveryState>(),
  attempts: number(),
  statusCode: number(),
  error: text(),
  createdAt: time(),
  dueAt: time(),
  endedAt: orNull(time()),
};
export const ATTEMPT = {
  number: number(),
  endedAt: time(),
  latencyMs: number(),
  statusCode: number(),
  error: text(),
  /** Null if no call was made. */
  executorId: orNull(uuid()),
};
/** The rest of what the body is made of. */
export const BODY = {
  ...DELIVERY_KEY,
  eventType: text(),
  eventId: number(),
  nodeId: text(),
  iteration: number(),
  result: text(),
  /** The last event of the run that the record knows. Null in a delivery of an earlier version. */
  lastEventId: orNull(number()),
  createdAt: time(),
  runStartedAt: orNull(time()),
  runEndedAt: orNull(time()),
};
export type DeliveryRecord = Typed<typeof DELIVERY>;
export type DeliveryAttempt = Typed<typeof ATTEMPT>;
export type DeliveryBody = Typed<typeof BODY>;
export type DeliveryPage = Page<DeliveryRecord>;

export interface DeliveryFilter {
  /** Empty means all, in each field. */
  readonly runId: string;
  readonly endpointId: string;
  readonly states: readonly DeliveryState[];
}

/** How many calls a receiver may get at once, and how many those get now that get any. */
export interface Shares {
  readonly share: number;
  readonly busy: ReadonlyMap<string, number>;
}

/** How many due deliveries a claim looks at. Those of receivers that have their share do not count. */
export const LOOKED_AT = 256;

/** How a call ended, and what follows. */
export const SETTLED = {
  ...CLAIM,
  state: text<DeliveryState>(),
  /** How long a pending one waits. */
  delayMs: number(),
  statusCode: number(),
  error: text(),
  latencyMs: number(),
  /** Null if no call was made. */
  executorId: orNull(uuid()),
  /** The receiver wants no more: its endpoint is switched off, or it gets nothing more of this run. */
  isGone: flag(),
};
export type SettledCall = Typed<typeof SETTLED>;

export type SaveEndpointResult =
  | { readonly kind: "saved"; readonly endpoint: EndpointRecord }
  /** The same request made it before. It is as this request wrote it, or a later one. */
  | { readonly kind: "repeated"; readonly endpoint: EndpointRecord; readonly secret: Buffer }
  | { readonly kind: "exists" | "missing" | "full" }
  | { readonly kind: "version_mismatch"; readonly currentVersion: number };

export interface Webhooks {
  /** Saves a receiver, unless there are `most` already. */
  create(endpoint: NewEndpoint, most: number): Promise<SaveEndpointResult>;
  /** Replaces the spec. Headers with an empty value keep their value. */
  update(edit: EndpointEdit): Promise<SaveEndpointResult>;
  remove(key: EndpointKey): Promise<boolean>;
  /** Gives another secret. The present one signs beside it for a time. Undefined if there is no such receiver. */
  rotate(key: EndpointKey, secret: Buffer, overlapMs: number): Promise<EndpointRecord | undefined>;
  find(key: EndpointKey): Promise<EndpointRecord | undefined>;
  /** Claims due deliveries, the oldest first. A claim without a report ends after CLAIM_MS. */
  claim(limit: number, shares: Shares): Promise<readonly ClaimedDelivery[]>;
  /** Records a call with its entry in the log of calls. False if the claim had ended. */
  settle(call: SettledCall): Promise<boolean>;
  /** Ends claims after a time, unless they are reported before. */
  release(claims: readonly DeliveryClaim[], graceMs: number): Promise<void>;
  /** Makes a delivery due now with all its attempts. Undefined if there is none. */
  redeliver(tenantId: string, deliveryId: string): Promise<DeliveryRecord | undefined>;
  /** Deletes deliveries that are over for this time, with their calls. True if there may be more. */
  forget(olderThanMs: number, limit: number): Promise<boolean>;
}
