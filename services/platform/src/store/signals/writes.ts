// Opens and closes waits for signals, in the transaction of a tick.

import { lists, number, orNull, text } from "../../db/columns.ts";
import { queriesBeside, type Send, valuesOf } from "../../db/query.ts";
import { type NewWait, WAIT, type WaitKey } from "./signals.ts";

const declare = queriesBeside(import.meta.url);

const open = declare("open", lists({ ...WAIT, name: text(), timeoutMs: orNull(number()) }));
const close = declare("close", lists(WAIT));

export async function openWaits(send: Send, waits: readonly NewWait[]): Promise<void> {
  await send(open, valuesOf(open, waits));
}

export async function closeWaits(send: Send, waits: readonly WaitKey[]): Promise<void> {
  await send(close, valuesOf(close, waits));
}
