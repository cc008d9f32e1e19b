// Changes slots in the transaction of a tick: first those of concurrency keys, then those of rates. A change of one of the two kinds waits
// for one answer. A change of neither is never sent.

import { list, lists, number, orNull, text } from "../../db/columns.ts";
import { queriesBeside, type RowOf, type Send, valuesOf } from "../../db/query.ts";
import type { NewJob } from "../../queue/queue.ts";
import { EXECUTION } from "../leases/leases.ts";
import {
  HOLDER,
  type KeyLimit,
  lockOrder,
  type SlotChange,
  type SlotRequest,
  type SlotsMoved,
} from "./slots.ts";

/** The most keys of rates that one tick handles because their time has come. */
const DUE_KEYS_MAX = 200;

const declare = queriesBeside(import.meta.url);

const KEYS = { keys: list(text()) };
const lockKeys = declare("lock_keys", lists({ key: text(), limit: number() }));
const lockDueKeys = declare("lock_due_keys", { limit: number() }, { slotKey: text() });
const releaseSlots = declare("release", lists(HOLDER));
const coolSlots = declare("cool", lists({ ...HOLDER, key: text(), perMs: number() }));
const JOB = {
  ...EXECUTION,
  attempt: number(),
  nodeType: text(),
  priority: number(),
  share: text(),
  /** The rate whose slot the execution needs next. */
  nextKey: orNull(text()),
  nextLimit: orNull(number()),
  nextPerMs: orNull(number()),
};
const requestSlots = declare("request", lists({ ...JOB, key: text() }));
const grantSlots = declare("grant", KEYS, JOB);
const cleanSlots = declare("clean", KEYS);
const armKeys = declare("arm_keys", KEYS, { wakeInMs: orNull(number()) });
const dropKeys = declare("drop_keys", KEYS);

/** Applies `change` and grants free slots to waiting executions. */
export async function moveSlots(send: Send, change: SlotChange): Promise<SlotsMoved> {
  const { released, started, requested, isDue } = change;
  const granted: NewJob[] = [];
  const forRates = requested.filter(({ slot }) => slot === undefined);
  const forSlots = requested.filter(({ slot }) => slot !== undefined);
  const slotLimits = [
    ...released.flatMap(({ slotKey }) =>
      slotKey === undefined ? [] : [{ key: slotKey, limit: 0 }],
    ),
    ...forSlots.flatMap(({ slot }) => slot ?? []),
  ];
  const slotKeys = lock(send, slotLimits);
  if (released.length > 0) void send(releaseSlots, valuesOf(releaseSlots, released));
  if (started.length > 0) {
    const starts = started.map(({ rate, ...holder }) => ({ ...holder, ...rate }));
    void send(coolSlots, valuesOf(coolSlots, starts));
  }
  if (slotKeys.length > 0) {
    request(send, forSlots);
    const rows = await send(grantSlots, { keys: slotKeys });
    void send(dropKeys, { keys: slotKeys });
    for (const row of rows) {
      if (row.nextKey === null) granted.push(toJob(row));
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
    keys.push(...due.map((row) => row.slotKey).filter((key) => !keys.includes(key)));
  }
  if (keys.length === 0) return { granted: [] };
  request(send, requests);
  void send(cleanSlots, { keys });
  const rows = send(grantSlots, { keys });
  const armed = send(armKeys, { keys });
  void send(dropKeys, { keys });
  const [{ wakeInMs } = { wakeInMs: null }] = await armed;
  const given = await rows;
  const granted = given.filter((row) => row.nextKey === null).map(toJob);
  const next = given.filter((row) => row.nextKey !== null).map(toRequest);
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
  void send(lockKeys, valuesOf(lockKeys, order));
  return order.map(({ key }) => key);
}

/** Requests slots. A request for a slot of concurrency also names the rate that it needs next. */
function request(send: Send, requests: readonly SlotRequest[]): void {
  if (requests.length === 0) return;
  const rows = requests.map(({ slot, rate, ...job }) => {
    const next = slot === undefined ? undefined : rate;
    return {
      ...job,
      key: (slot ?? rate)?.key ?? "",
      nextKey: next?.key ?? null,
      nextLimit: next?.limit ?? null,
      nextPerMs: next?.perMs ?? null,
    };
  });
  void send(requestSlots, valuesOf(requestSlots, rows));
}

function toJob(row: RowOf<typeof grantSlots>): NewJob {
  const { nextKey: _key, nextLimit: _limit, nextPerMs: _perMs, ...job } = row;
  return { ...job, isGranted: true };
}

function toRequest({
  nextKey,
  nextLimit,
  nextPerMs,
  ...job
}: RowOf<typeof grantSlots>): SlotRequest {
  return { ...job, rate: { key: nextKey ?? "", limit: nextLimit ?? 1, perMs: nextPerMs ?? 1 } };
}
