// The times at which an expression is due. pg-boss computes cron expressions and RFC 5545 rules in a time zone, without a database. A rule
// may take long: one with every second of a year took 47 s, one that never matches 0.5 to 5 s. So services compute in a thread
// (occurrences.ts). A time more than a century away is no occurrence, because calendars and databases have an end.

import { PgBoss } from "pg-boss";

/** An expression and its time zone. */
export interface Recurrence {
  readonly expression: string;
  readonly timeZone: string;
}

/** The fault of a recurrence, and its field. */
export interface RecurrenceFault {
  readonly field: "expression" | "time_zone";
  readonly reason: string;
  readonly description: string;
}

const computer = new PgBoss({
  db: { executeSql: () => Promise.reject(new Error("computing occurrences asks no database")) },
});

/** The most occurrences of one call. One occurrence of a sparse expression takes up to 3 ms, and other calls wait. */
const OCCURRENCES_MAX = 500;
/** Occurrences in one call to pg-boss. pg-boss gives up after a second, and on a busy machine some hundred take that long. */
const PAGE = 20;
/** How far away an occurrence may be. */
const HORIZON_YEARS = 100;
const HORIZON_MS = HORIZON_YEARS * 366 * 24 * 3_600_000;
/** The last time that every calendar can express. */
const LAST_TIME = Date.UTC(9999, 0, 1);
/** Messages of pg-boss and its libraries about a rule whose next occurrence they did not find. */
const NOT_FOUND = /iterations|loop limit|timespan|candidate|Gave up|[Oo]ut-of-bounds date/;

const ZONE = /^[A-Za-z][A-Za-z0-9_+-]*(\/[A-Za-z0-9_+-]+)*$/;
/** Every rule has one of these characters, and no cron field has. */
const RULE = /[=:;]/;
/** Every process draws hashed fields differently, so two schedulers would not agree on the time. */
const HASHED = /(^|[\s,])H([\s,/(]|$)/i;

/**
 * The occurrences after a time, in order, within a century. The list is shorter if the rule ends or further occurrences cannot be found.
 * @throws the error of pg-boss for an expression that it cannot read, or that has no occurrence
 */
export function occurrencesAfter(
  { expression, timeZone }: Recurrence,
  afterMs: number,
  count: number,
): number[] {
  const lastTime = Math.min(LAST_TIME, afterMs + HORIZON_MS);
  const times: number[] = [];
  let after = afterMs;
  while (times.length < count && after < lastTime) {
    // Ask for the first one alone: the others of a sparse rule may take long, or may not be found.
    const asked = times.length === 0 ? 1 : Math.min(PAGE, count - times.length);
    const page = readPage({ expression, timeZone }, after, asked, times.length > 0);
    const near = page.filter((at) => at <= lastTime);
    times.push(...near);
    if (near.length < asked) break;
    after = times.at(-1) ?? lastTime;
  }
  return times;
}

/** One page. With `mayEnd`, a page whose occurrences are not found is empty instead of an error. */
function readPage(
  { expression, timeZone }: Recurrence,
  after: number,
  count: number,
  mayEnd: boolean,
): number[] {
  try {
    const from = new Date(after);
    const page = computer.previewSchedule(expression, { tz: timeZone, from, count });
    return page.map((time) => time.getTime());
  } catch (error) {
    if (mayEnd && NOT_FOUND.test(errorText(error))) return [];
    throw error;
  }
}

const errorText = (error: unknown): string =>
  error instanceof Error ? error.message : String(error);

/** Why a recurrence cannot be saved: it is unreadable, or has no occurrence after a time. Undefined if it can be saved. */
export function recurrenceFault(
  recurrence: Recurrence,
  afterMs: number,
): RecurrenceFault | undefined {
  if (!isZone(recurrence.timeZone)) {
    const description = "is not an IANA time zone, such as Europe/Berlin";
    return { field: "time_zone", reason: "BAD_TIME_ZONE", description };
  }
  const wrong = (reason: string, description: string): RecurrenceFault => ({
    field: "expression",
    reason,
    description,
  });
  const { expression } = recurrence;
  if (!RULE.test(expression)) {
    const fields = expression.split(/\s+/).filter((field) => field !== "").length;
    const isMacro = /^@[a-z]+$/.test(expression);
    if (!isMacro && fields !== 5 && fields !== 6)
      return wrong("BAD_EXPRESSION", "is neither five cron fields, nor a macro, nor an RRULE");
    if (HASHED.test(expression))
      return wrong("BAD_EXPRESSION", "has a hashed field (H), which means another time everywhere");
  }
  try {
    if (occurrencesAfter(recurrence, afterMs, 1).length > 0) return undefined;
    return wrong("NO_OCCURRENCE", `has no occurrence within the next ${HORIZON_YEARS} years`);
  } catch (error) {
    const message = errorText(error);
    return NOT_FOUND.test(message)
      ? wrong("NO_OCCURRENCE", "has no occurrence that could be found; no date may match it")
      : wrong("BAD_EXPRESSION", `cannot be read: ${message}`);
  }
}

function isZone(timeZone: string): boolean {
  if (!ZONE.test(timeZone)) return false;
  try {
    return Intl.DateTimeFormat("en", { timeZone }).resolvedOptions().timeZone !== "";
  } catch {
    return false;
  }
}

/** No rule is due more often than once a second, so one call reads the first window. */
const FIRST_WINDOW_MS = 2 * 60_000;
const GROWTH = 4;
/** The bound for a rule that is dense only in the far past. It reads some 20,000 occurrences, which takes a second or two, once. */
const PAGES_MAX = 40;

/** The range to search, and how many occurrences to return. */
export interface DueWindow {
  readonly first: number;
  readonly now: number;
  readonly max: number;
}

/**
 * The newest occurrences from `first`, which is one of them, to `now`, in order. pg-boss computes forwards only. So the search looks at a
 * short window before now, then at longer ones. After three weeks without a scheduler, it does not count through a rule that is due every
 * second.
 */
export function dueTimes(recurrence: Recurrence, { first, now, max }: DueWindow): number[] {
  if (now === first) return [first];
  for (let width = FIRST_WINDOW_MS; ; width *= GROWTH) {
    const isWhole = now - width < first;
    const times = readWindow(recurrence, isWhole ? first - 1 : now - width, now);
    if (isWhole || times.length >= max) return times.slice(-max);
  }
}

/** Every occurrence after `after` up to `now`. Only the newest pages if there are very many. */
function readWindow(recurrence: Recurrence, after: number, now: number): number[] {
  let times: number[] = [];
  let from = after;
  for (let page = 0; page < PAGES_MAX; page += 1) {
    const read = occurrencesAfter(recurrence, from, OCCURRENCES_MAX);
    const due = read.filter((at) => at <= now);
    times = due.length === 0 ? times : [...times.slice(-OCCURRENCES_MAX), ...due];
    const last = due.at(-1);
    if (due.length < OCCURRENCES_MAX || last === undefined) break;
    from = last;
  }
  return times;
}
