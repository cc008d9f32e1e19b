// When an expression comes due: pg-boss computes cron expressions and RFC 5545 rules in a time zone; nothing here does that again.
// No database is asked: computing needs none. A rule may take pg-boss any time (a rule with every second of a year took it 47 s, one
// that never matches 0.5 to 5 s), so services compute in a thread beside: see occurrences.ts. What is further away than a century is
// no occurrence: no schedule waits for it, and calendars and databases end somewhere behind it.

import { PgBoss } from "pg-boss";

/** An expression and the zone it is read in. */
export interface Recurrence {
  readonly expression: string;
  readonly timeZone: string;
}

/** What is wrong with a recurrence, by the field at fault. */
export interface RecurrenceFault {
  readonly field: "expression" | "time_zone";
  readonly reason: string;
  readonly description: string;
}

const computer = new PgBoss({
  db: { executeSql: () => Promise.reject(new Error("computing occurrences asks no database")) },
});

/** The most one call may ask for; one occurrence of a sparse expression takes up to 3 ms, and others wait meanwhile. */
export const OCCURRENCES_MAX = 500;
/** Asked of pg-boss at once: it gives up on what takes longer than a second, which on a busy machine some hundred do. */
const PAGE = 20;
/** An occurrence is at most so far away. */
const HORIZON_YEARS = 100;
const HORIZON_MS = HORIZON_YEARS * 366 * 24 * 3_600_000;
/** What every calendar can say. */
const LAST_TIME = Date.UTC(9999, 0, 1);
/** What pg-boss and its libraries say of a rule whose next occurrence they did not find. */
const NOT_FOUND = /iterations|loop limit|timespan|candidate|Gave up|[Oo]ut-of-bounds date/;

const ZONE = /^[A-Za-z][A-Za-z0-9_+-]*(\/[A-Za-z0-9_+-]+)*$/;
/** No field of a cron expression has one of these, and every rule has. */
const RULE = /[=:;]/;
/** Hashed fields are drawn anew by every process: two schedulers would not agree on the time. */
const HASHED = /(^|[\s,])H([\s,/(]|$)/i;

/**
 * The occurrences after a time, in order, none a century later; fewer when the rule ends or the others cannot be found.
 * @throws what pg-boss says of an expression it cannot read, or finds no occurrence of
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
    // The first alone: the others of a sparse rule may take long, or not be found at all.
    const asked = times.length === 0 ? 1 : Math.min(PAGE, count - times.length);
    const page = readPage({ expression, timeZone }, after, asked, times.length > 0);
    const near = page.filter((at) => at <= lastTime);
    times.push(...near);
    if (near.length < asked) break;
    after = times.at(-1) ?? lastTime;
  }
  return times;
}

/** One page; empty instead of an error for what is not found, where `mayEnd`. */
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

/** Why a recurrence cannot be kept, if so: unreadable, or without any occurrence after a time. */
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
    const said = errorText(error);
    return NOT_FOUND.test(said)
      ? wrong("NO_OCCURRENCE", "has no occurrence that could be found; no date may match it")
      : wrong("BAD_EXPRESSION", `cannot be read: ${said}`);
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
