// Moves slots in the transaction of a tick: first those of concurrency keys, then those of rates. A change that touches one of the two
// kinds waits for one answer; a change that touches neither is never sent.

import type { NodeId, RunId } from "@pawl/core/name/ids";
import { list, number, orNull, text, uuid } from "../../db/columns.ts";
import { columns, queriesBeside, type RowOf, type Send } from "../../db/query.ts";
import type { NewJob } from "../../queue/queue.ts";
import {
  type KeyLimit,
  lockOrder,
  type SlotChange,
  type SlotRequest,
  type SlotsMoved,
} from "./slots.ts";

/** Keys of rates looked at in one tick because their time has come. */
const DUE_KEYS_MAX = 200;

const declare = queriesBeside(import.meta.url);

const HOLDER = { runId: list(uuid()), nodeId: list(text()), iteration: list(number()) };
const KEYS = { keys: list(text()) };
const lockKeys = declare("lock_keys", { key: list(text()), limit: list(number()) });
const lockDueKeys = declare("lock_due_keys", { limit: number() }, { slot_key: text() });
const releaseSlots = declare("release", HOLDER);
const coolSlots = declare("cool", { ...HOLDER, key: list(text()), perMs: list(number()) });
const requestSlots = declare("request", {
  ...HOLDER,
  key: list(text()),
  attempt: list(number()),
  nodeType: list(text()),
  priority: list(number()),
  share: list(text()),
  nextKey: list(orNull(text())),
  nextLimit: list(orNull(number())),
  nextPerMs: list(orNull(number())),
});
const grantSlots = declare("grant", KEYS, {
  run_id: uuid<RunId>(),
  node_id: text<NodeId>(),
  iteration: number(),
  attempt: number(),
  node_type: text(),
  priority: number(),
  share: text(),
  next_key: orNull(text()),
  next_limit: orNull(number()),
  next_per_ms: orNull(number()),
});
const cleanSlots = declare("clean", KEYS);
const armKeys = declare("arm_keys", KEYS, { wake_in_ms: orNull(number()) });
const dropKeys = declare("drop_keys", KEYS);

type GrantRow = RowOf<typeof grantSlots>;

/** Applies `change` and gives on what is free. */
export async function moveSlots(send: Send, change: SlotChange): Promise<SlotsMoved> {
  const { released, started, requested, isDue } = change;
  const granted: NewJob[] = [];
  const forRates = requested.filter((request) => request.slot === undefined);
  const forSlots = requested.filter((request) => request.slot !== undefined);
  const slotLimits = [
    ...released.flatMap(({ slotKey }) =>
      slotKey === undefined ? [] : [{ key: slotKey, limit: 0 }],
    ),
    ...forSlots.flatMap(({ slot }) => slot ?? []),
  ];
  const slotKeys = lock(send, slotLimits);
  if (released.length > 0) void send(releaseSlots, columns(released, HOLDER_FIELDS));
  if (started.length > 0) void send(coolSlots, startedColumns(started));
  if (slotKeys.length > 0) {
    if (forSlots.length > 0) void send(requestSlots, requestColumns(forSlots));
    const rows = await send(grantSlots, { keys: slotKeys });
    void send(dropKeys, { keys: slotKeys });
    for (const row of rows) {
      if (row.next_key === null) granted.push(toJob(row));
      else forRates.push(toRequest(row));
    }
  }
  const rateLimits = [
    ...released.flatMap(({ rateKey }) =>
      rateKey === undefined ? [] : [{ key: rateKey, limit: 0 }],
    ),
    ...started.map(({ rate }) => ({ key: rate.key, limit: 0 })),
    ...forRates.flatMap(({ rate }) => rate ?? []),
  ];
  const rates = await moveRates(send, rateLimits, forRates, isDue);
  return { ...rates, granted: [...granted, ...rates.granted] };
}

async function moveRates(
  send: Send,
  limits: readonly KeyLimit[],
  requests: readonly SlotRequest[],
  isDue: boolean,
): Promise<SlotsMoved> {
  const keys = lock(send, limits);
  if (isDue) {
    const due = await send(lockDueKeys, { limit: DUE_KEYS_MAX });
    keys.push(...due.map((row) => row.slot_key).filter((key) => !keys.includes(key)));
  }
  if (keys.length === 0) return { granted: [] };
  if (requests.length > 0) void send(requestSlots, requestColumns(requests));
  void send(cleanSlots, { keys });
  const rows = send(grantSlots, { keys });
  const armed = send(armKeys, { keys });
  void send(dropKeys, { keys });
  const [{ wake_in_ms: wakeInMs } = { wake_in_ms: null }] = await armed;
  const given = await rows;
  const granted = given.filter((row) => row.next_key === null).map(toJob);
  const next = given.filter((row) => row.next_key !== null).map(toRequest);
  // Executions that got a slot of concurrency here still need a slot of a rate. This happens only after a quarantine freed slots.
  const more =
    next.length === 0
      ? { granted: [] }
      : await moveRates(
          send,
          next.flatMap(({ rate }) => rate ?? []),
          next,
          false,
        );
  const wake = wakeInMs === null ? {} : { wakeInMs };
  return { ...more, ...wake, granted: [...granted, ...more.granted] };
}

function lock(send: Send, limits: readonly KeyLimit[]): string[] {
  const order = lockOrder(limits);
  if (order.length === 0) return [];
  void send(lockKeys, columns(order, ["key", "limit"]));
  return order.map(({ key }) => key);
}

const HOLDER_FIELDS = ["runId", "nodeId", "iteration"] as const;

const startedColumns = (started: SlotChange["started"]) => ({
  ...columns(started, HOLDER_FIELDS),
  key: started.map(({ rate }) => rate.key),
  perMs: started.map(({ rate }) => rate.perMs),
});

/** A request for a slot of concurrency also names the rate that it needs next. */
function requestColumns(requests: readonly SlotRequest[]) {
  const next = requests.map(({ slot, rate }) => (slot === undefined ? undefined : rate));
  return {
    ...columns(requests, HOLDER_FIELDS),
    ...columns(requests, ["attempt", "nodeType", "priority", "share"]),
    key: requests.map(({ slot, rate }) => (slot ?? rate)?.key ?? ""),
    nextKey: next.map((rate) => rate?.key ?? null),
    nextLimit: next.map((rate) => rate?.limit ?? null),
    nextPerMs: next.map((rate) => rate?.perMs ?? null),
  };
}

function toJob(row: GrantRow): NewJob {
  const { run_id: runId, node_id: nodeId, iteration, attempt, node_type: nodeType } = row;
  const { priority, share } = row;
  return { runId, nodeId, iteration, attempt, nodeType, priority, share, isGranted: true };
}

function toRequest(row: GrantRow): SlotRequest {
  const { isGranted: _isGranted, ...job } = toJob(row);
  const rate = { key: row.next_key ?? "", limit: row.next_limit ?? 1, perMs: row.next_per_ms ?? 1 };
  return { ...job, share: row.share, rate };
}
