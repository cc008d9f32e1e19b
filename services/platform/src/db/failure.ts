// Classifies failures of the database. No other file knows SQLSTATEs. A code listed here is a fault of the statement or its values. Every
// other error counts against the database as a whole: the same call may succeed later.

import { EngineError } from "@pawl/core/fault/engine-error";

/**
 * store       the database as a whole: away, read-only, full, damaged, or an error that is not listed
 * contention  another transaction wrote the same rows first: the same call may succeed at once
 * locked      another session holds a lock for longer than we wait
 * duplicate   a unique index has the row already
 * data        the database cannot store this value
 * code        not an error of the database: our own code threw
 */
export type FailureKind = "store" | "contention" | "locked" | "duplicate" | "data" | "code";

/** SQLSTATE of a pg error, also if it is the cause of STORE_UNAVAILABLE. Undefined for anything else. */
export function sqlState(error: unknown): string | undefined {
  if (error instanceof EngineError) return sqlState(error.cause);
  if (typeof error !== "object" || error === null || !("code" in error)) return undefined;
  return typeof error.code === "string" ? error.code : undefined;
}

/** SQLSTATEs about the statement or its values. If several match, the first counts. */
const NAMED: readonly (readonly [RegExp, FailureKind])[] = [
  [/^(40001|40P01)$/, "contention"],
  [/^55P03$/, "locked"],
  [/^23505$/, "duplicate"],
  // Data exceptions, other constraints, and values that are too large for a row or an index.
  [/^(22|23|54)/, "data"],
];
const SQLSTATE = /^[0-9A-Z]{5}$/;
/** System errors of sockets, and writes to a closed socket. */
const SOCKET = /^(E(?!RR_)[A-Z_]+|ERR_(STREAM|SOCKET)_.+)$/;
const AWAY_MESSAGE =
  /Connection terminated|Client has encountered|not queryable|timeout exceeded|Query read timeout/;

/** The class of a failure. */
export function failureKind(error: unknown): FailureKind {
  if (error instanceof EngineError) return error.reason === "STORE_UNAVAILABLE" ? "store" : "code";
  const state = sqlState(error) ?? "";
  return kindOf(state) ?? (isAway(error) || SQLSTATE.test(state) ? "store" : "code");
}

const kindOf = (state: string): FailureKind | undefined =>
  NAMED.find(([states]) => states.test(state))?.[1];

/** Serialisation failure, deadlock or lock timeout, also behind STORE_UNAVAILABLE. The same transaction may succeed if it is sent again. */
export const isContention = (error: unknown): boolean => {
  const kind = kindOf(sqlState(error) ?? "");
  return kind === "contention" || kind === "locked";
};

/** A unique index refused the row. */
export const isUniqueViolation = (error: unknown): boolean => failureKind(error) === "duplicate";

/** A row names another one that does not exist. */
export const isForeignKeyViolation = (error: unknown): boolean => sqlState(error) === "23503";

/** Another transaction wrote first. A repeat of the same work then sees its rows. */
export const isOvertaken = (error: unknown): boolean =>
  isContention(error) || isUniqueViolation(error);

/** SQLSTATEs of a server that is down, starting, stopping, full or too slow, or that ended an idle session. */
const AWAY = /^(08|57P|57014|53|25P0[34])/;

/** The connection broke, or the server is starting, stopping, full or too slow. */
export function isAway(error: unknown): boolean {
  const state = sqlState(error) ?? "";
  if (SOCKET.test(state) || AWAY.test(state)) return true;
  return error instanceof Error && AWAY_MESSAGE.test(error.message);
}

/** Whether a statement may be sent again: the database did none of it, and the obstacle may be over. */
export const isPassing = (error: unknown): boolean =>
  isContention(error) || sqlState(error) === "57014";

const WORDS: readonly (readonly [RegExp, string])[] = [
  [/^25006/, "it is read-only"],
  [/^53100/, "its disk is full"],
  [/^53300/, "all its connections are in use"],
  [/^53/, "it has no resources left"],
  [/^57014/, "a statement took too long"],
  [/^57P/, "it is starting, stopping or ending sessions"],
  [/^(55P03|40)/, "other sessions hold locks for too long"],
  [/^58/, "it cannot read or write its files"],
  [/^42501/, "it denies a permission"],
  [/^28/, "it refuses the login"],
  [/^XX/, "it found damaged data"],
];

/** Why the database cannot be used, in words for people. It never repeats the database's own message, which may quote users' data. */
function describe(error: unknown): string {
  const state = sqlState(error) ?? "";
  if (!SQLSTATE.test(state) || SOCKET.test(state) || state.startsWith("08"))
    return "it cannot be reached";
  const words = WORDS.find(([states]) => states.test(state))?.[1] ?? "it answers with an error";
  return `${words} (SQLSTATE ${state})`;
}

/** STORE_UNAVAILABLE, with the reason of a failure. */
export const storeUnavailable = (cause: unknown): EngineError =>
  new EngineError(
    "STORE_UNAVAILABLE",
    `The database cannot be used now: ${describe(cause)}. Try again shortly.`,
    { retryAfterMs: 1_000, cause },
  );

/** Turns a failure of the database as a whole into STORE_UNAVAILABLE and returns every other error unchanged. */
export const storeFault = (error: unknown): unknown =>
  failureKind(error) === "store" && !(error instanceof EngineError)
    ? storeUnavailable(error)
    : error;

/** The same for a call that is not repeated: contention and locks count against the database too. */
export const lastFault = (error: unknown): unknown =>
  isContention(error) && !(error instanceof EngineError)
    ? storeUnavailable(error)
    : storeFault(error);

/** SQLSTATEs about connections, logins, read-only sessions, resources, starting and stopping. */
const OF_SERVER = /^(08|25|28|3D|53|57P)/;

/** Whether the server would refuse every call now, and not only this one. */
export const isOfServer = (error: unknown): boolean => {
  const state = sqlState(error) ?? "";
  return !SQLSTATE.test(state) || SOCKET.test(state) || OF_SERVER.test(state);
};
