// When an expression comes due: pg-boss computes cron expressions and RFC 5545 rules in a time zone; nothing here does that again.
// No database is asked: computing needs none.

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
/** Far enough that no rule is missed, near enough that every calendar can say it. */
const LAST_TIME = Date.UTC(9999, 0, 1);

const ZONE = /^[A-Za-z][A-Za-z0-9_+-]*(\/[A-Za-z0-9_+-]+)*$/;
/** No field of a cron expression has one of these, and every rule has. */
const RULE = /[=:;]/;
/** Hashed fields are drawn anew by every process: two schedulers would not agree on the time. */
const HASHED = /(^|[\s,])H([\s,/(]|$)/i;

/** The occurrences after a time, in order; fewer when the rule ends. @throws what pg-boss says of an expression it cannot read */
export function occurrencesAfter(
  { expression, timeZone }: Recurrence,
  afterMs: number,
  count: number,
): number[] {
  const times: number[] = [];
  let after = afterMs;
  while (times.length < count && after < LAST_TIME) {
    const asked = Math.min(PAGE, count - times.length);
    const from = new Date(after);
    const page = computer.previewSchedule(expression, { tz: timeZone, from, count: asked });
    times.push(...page.map((time) => time.getTime()));
    if (page.length < asked) break;
    after = times.at(-1) ?? LAST_TIME;
  }
  return times;
}

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
    return wrong("NO_OCCURRENCE", "has no occurrence left");
  } catch (error) {
    const said = error instanceof Error ? error.message : String(error);
    return /iterations|loop limit|timespan/.test(said)
      ? wrong("NO_OCCURRENCE", "has no occurrence that could be found")
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
