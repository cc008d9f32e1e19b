// What Postgres says when it refuses: which refusals mean "try again" and which mean "the database is away".

import { EngineError } from "@pawl/core/fault/engine-error";

/** SQLSTATE of a pg error, or undefined for anything else. */
export function sqlState(error: unknown): string | undefined {
  if (typeof error !== "object" || error === null || !("code" in error)) return undefined;
  return typeof error.code === "string" ? error.code : undefined;
}

const RETRY_STATES = new Set(["40001", "40P01", "55P03"]);
/**
 * Connection errors, a server that stops or has no room, a statement that took longer than it may, and a transaction that the server
 * ended with its connection because we stood still in it.
 */
const AWAY = /^(08|57P|57014|53|25P0[34])/;
const AWAY_SOCKET = new Set(["ECONNREFUSED", "ECONNRESET", "EPIPE", "ETIMEDOUT", "ENOTFOUND"]);
const AWAY_MESSAGE =
  /Connection terminated|Client has encountered|not queryable|timeout exceeded|Query read timeout/;

/** Serialisation failure, deadlock or lock timeout: the same transaction may succeed when it is sent again. */
export const isContention = (error: unknown): boolean => RETRY_STATES.has(sqlState(error) ?? "");

/** A unique index refused the row. */
export const isUniqueViolation = (error: unknown): boolean => sqlState(error) === "23505";

/** The connection broke, or the server is starting, stopping, full or too slow. */
export function isAway(error: unknown): boolean {
  const state = sqlState(error);
  if (state !== undefined && (AWAY.test(state) || AWAY_SOCKET.has(state))) return true;
  return error instanceof Error && AWAY_MESSAGE.test(error.message);
}

/** Turns an outage into STORE_UNAVAILABLE and leaves every other error as it is. */
export function storeFault(error: unknown): unknown {
  if (!isAway(error)) return error;
  return new EngineError(
    "STORE_UNAVAILABLE",
    "The database cannot be reached; try again shortly.",
    {
      retryAfterMs: 1_000,
      cause: error,
    },
  );
}
