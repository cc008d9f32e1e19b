// Parses the terminal event inside a notification.

import { isTerminalType, type RunEvent } from "@pawl/core/log/event";
import { isUuid } from "@pawl/core/name/ids";
import { toEvent } from "../db/event-row.ts";

/** The channel for short terminal events. An event arrives before the notification that names its run. */
export const ENDS_CHANNEL = "pawl_ends";

const isNumber = (value: unknown): boolean => typeof value === "number";
const isString = (value: unknown): boolean => typeof value === "string";

/** The type of each column, in the order in which store/tick/queries.sql sends them. */
const COLUMNS: readonly ((value: unknown) => boolean)[] = [
  (id) => typeof id === "string" && isUuid(id),
  isNumber,
  (type) => typeof type === "string" && isTerminalType(type),
  isString,
  isNumber,
  isNumber,
  isNumber,
  (payload) => typeof payload === "object" && payload !== null,
  (value) => value === null || isString(value),
  isNumber,
];

/**
 * Reads a payload. Undefined if this build does not understand it. The check is written by hand, because zod took two thirds of the time of
 * receiving an end.
 */
export function parseEnd(text: string): RunEvent | undefined {
  const columns = parseJson(text);
  if (!Array.isArray(columns) || !COLUMNS.every((is, at) => is(columns[at]))) return undefined;
  const [run_id, seq, type, node_id, iteration, attempt, epoch, payload, value, at] = columns;
  return toEvent({ run_id, seq, type, node_id, iteration, attempt, epoch, payload, value, at });
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
