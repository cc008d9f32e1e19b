// Reads receivers of webhooks, deliveries and their calls.

import type { DeliveryState } from "@pawl/core/policy/webhook";
import type { RunId } from "@pawl/core/name/ids";
import { list, number, text, uuid } from "../../db/columns.ts";
import { first, queriesBeside, type Queryable, run } from "../../db/query.ts";
import { NEWEST_FIRST, type PageRequest, readPage } from "../page.ts";
import {
  ATTEMPT,
  BODY,
  DELIVERY,
  DELIVERY_KEY,
  type DeliveryAttempt,
  type DeliveryBody,
  type DeliveryFilter,
  type DeliveryKey,
  type DeliveryPage,
  type DeliveryRecord,
  ENDPOINT,
  ENDPOINT_KEY,
  type EndpointKey,
  type EndpointPage,
  type EndpointRecord,
} from "./webhooks.ts";

const declare = queriesBeside(import.meta.url);

const ID = { tenantId: text(), deliveryId: uuid() };
const one = declare("one", ENDPOINT_KEY, ENDPOINT);
const page = declare("page", { tenantId: text(), after: text(), limit: number() }, ENDPOINT);
const deliveries = declare(
  "deliveries",
  {
    ...{ tenantId: text(), runId: text(), endpointId: text() },
    ...{ states: list(text<DeliveryState>()), before: uuid(), limit: number() },
  },
  DELIVERY,
);
const ofRun = declare("of_run", { runId: uuid<RunId>(), limit: number() }, DELIVERY);
const delivery = declare("delivery", ID, DELIVERY);
const body = declare("body", ID, BODY);
const attempts = declare("attempts", { ...DELIVERY_KEY, limit: number() }, ATTEMPT);
const callers = declare("callers", {}, { count: number() });

/** One receiver, or undefined. @throws STORE_UNAVAILABLE */
export const getEndpoint = (db: Queryable, key: EndpointKey): Promise<EndpointRecord | undefined> =>
  first(db, one, key);

/** Receivers in order of id. @throws INPUT_INVALID for a token of another list, STORE_UNAVAILABLE */
export const listEndpoints = (
  db: Queryable,
  tenantId: string,
  asked: PageRequest,
): Promise<EndpointPage> =>
  readPage(asked, {
    filter: `webhook endpoints ${tenantId}`,
    keyOf: (row) => row.endpointId,
    read: (after, limit) => run(db, page, { tenantId, after, limit }),
  });

/** Deliveries, newest first. @throws INPUT_INVALID for a token of another filter, STORE_UNAVAILABLE */
export const listDeliveries = (
  db: Queryable,
  tenantId: string,
  filter: DeliveryFilter,
  asked: PageRequest,
): Promise<DeliveryPage> => {
  const { runId, endpointId } = filter;
  const values = { tenantId, runId, endpointId, states: [...new Set(filter.states)].toSorted() };
  return readPage(asked, {
    ...NEWEST_FIRST,
    filter: `webhook deliveries ${JSON.stringify(Object.values(values))}`,
    keyOf: (row) => row.deliveryId,
    read: (before, limit) => run(db, deliveries, { ...values, before, limit }),
  });
};

/** The newest deliveries of a run. @throws STORE_UNAVAILABLE */
export const deliveriesOf = (
  db: Queryable,
  runId: RunId,
  limit: number,
): Promise<DeliveryRecord[]> => run(db, ofRun, { runId, limit });

/** One delivery, or undefined. @throws STORE_UNAVAILABLE */
export const getDelivery = (
  db: Queryable,
  tenantId: string,
  deliveryId: string,
): Promise<DeliveryRecord | undefined> => first(db, delivery, { tenantId, deliveryId });

/** What the body of a delivery is made of, or undefined. @throws STORE_UNAVAILABLE */
export const getDeliveryBody = (
  db: Queryable,
  tenantId: string,
  deliveryId: string,
): Promise<DeliveryBody | undefined> => first(db, body, { tenantId, deliveryId });

/** The newest calls of a delivery, in order. @throws STORE_UNAVAILABLE */
export const attemptsOf = async (
  db: Queryable,
  { runId, deliveryId }: DeliveryKey,
  limit: number,
): Promise<readonly DeliveryAttempt[]> =>
  (await run(db, attempts, { runId, deliveryId, limit })).toReversed();

/** How many executors can make calls now. @throws STORE_UNAVAILABLE */
export const countCallers = async (db: Queryable): Promise<number> =>
  (await first(db, callers, {}))?.count ?? 0;
