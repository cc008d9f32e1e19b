// Moves slots in the tick's transaction: first those of concurrency keys, then those of rates. A change that touches only one of
// the two kinds waits for one answer, and one that touches neither is never sent.

import type { RunId } from "@pawl/core/name/ids";
import type { arrayLiteral } from "../db/array-literal.ts";
import type { Statement } from "../db/sql.ts";
import type { NewJob } from "../queue/queue.ts";
import {
  type KeyLimit,
  lockOrder,
  type SlotChange,
  type SlotRequest,
  type SlotsMoved,
} from "./slots.ts";
import { armSlotKeys } from "./statements/arm-slot-keys.ts";
import { cleanSlots } from "./statements/clean-slots.ts";
import { coolSlots } from "./statements/cool-slots.ts";
import { dropSlotKeys } from "./statements/drop-slot-keys.ts";
import { grantSlots } from "./statements/grant-slots.ts";
import { lockDueKeys } from "./statements/lock-due-keys.ts";
import { lockSlotKeys } from "./statements/lock-slot-keys.ts";
import { releaseSlots } from "./statements/release-slots.ts";
import { requestSlots } from "./statements/request-slots.ts";

/** Keys of rates looked at in one tick because their time has come. */
const DUE_KEYS_MAX = 200;

type Column = Parameters<typeof arrayLiteral>[0];
/** Sends a statement of the transaction; the answer comes when it comes. */
export type Send = <Row extends object>(
  statement: Statement,
  parameters: readonly (string | number | Column)[],
) => Promise<Row[]>;

interface GrantRow {
  readonly run_id: RunId;
  readonly node_id: NewJob["nodeId"];
  readonly iteration: number;
  readonly attempt: number;
  readonly node_type: string;
  readonly priority: number;
  readonly share: string;
  readonly next_key: string | null;
  readonly next_limit: number | null;
  readonly next_per_ms: number | null;
}

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
  if (released.length > 0) void send(releaseSlots, holders(released));
  if (started.length > 0)
    void send(coolSlots, [
      ...holders(started),
      started.map(({ rate }) => rate.key),
      started.map(({ rate }) => rate.perMs),
    ]);
  if (slotKeys.length > 0) {
    if (forSlots.length > 0) void send(requestSlots, columns(forSlots));
    const rows = await send<GrantRow>(grantSlots, [slotKeys]);
    void send(dropSlotKeys, [slotKeys]);
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
    const due = await send<{ slot_key: string }>(lockDueKeys, [DUE_KEYS_MAX]);
    keys.push(...due.map((row) => row.slot_key).filter((key) => !keys.includes(key)));
  }
  if (keys.length === 0) return { granted: [] };
  if (requests.length > 0) void send(requestSlots, columns(requests));
  void send(cleanSlots, [keys]);
  const rows = send<GrantRow>(grantSlots, [keys]);
  const armed = send<{ wake_in_ms: number | null }>(armSlotKeys, [keys]);
  void send(dropSlotKeys, [keys]);
  const [{ wake_in_ms: wakeInMs } = { wake_in_ms: null }] = await armed;
  const given = await rows;
  const granted = given.filter((row) => row.next_key === null).map(toJob);
  const next = given.filter((row) => row.next_key !== null).map(toRequest);
  // Only a key that was woken for another reason, a run set aside, gives slots that are not the last thing needed.
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
  void send(lockSlotKeys, [order.map(({ key }) => key), order.map(({ limit }) => limit)]);
  return order.map(({ key }) => key);
}

const holders = (
  all: readonly { readonly runId: RunId; readonly nodeId: string; readonly iteration: number }[],
): Column[] => [
  all.map((each) => each.runId),
  all.map((each) => each.nodeId),
  all.map((each) => each.iteration),
];

/** A request that has a slot of its concurrency key to get first says there what it wants next. */
function columns(requests: readonly SlotRequest[]): Column[] {
  const next = (request: SlotRequest) => (request.slot === undefined ? undefined : request.rate);
  return [
    requests.map(({ slot, rate }) => (slot ?? rate)?.key ?? ""),
    ...holders(requests),
    requests.map((request) => request.attempt),
    requests.map((request) => request.nodeType),
    requests.map((request) => request.priority),
    requests.map((request) => request.share),
    requests.map((request) => next(request)?.key ?? null),
    requests.map((request) => next(request)?.limit ?? null),
    requests.map((request) => next(request)?.perMs ?? null),
  ];
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
