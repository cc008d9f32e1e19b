// A time on the clock of a time zone, as schedules are written. Pure.

/** 2026-01-02 03:00 in `timeZone`, with seconds where there are some; undefined where this machine does not know the zone. */
export function clockTime(date: Date, timeZone: string): string | undefined {
  try {
    // Swedish dates are ISO dates.
    const format = { timeZone, dateStyle: "short", timeStyle: "medium" } as const;
    return new Intl.DateTimeFormat("sv-SE", format).format(date).replace(/:00$/, "");
  } catch {
    return undefined;
  }
}

/** The exact time in UTC. */
export const exactTime = (date: Date): string => date.toISOString().replace(".000Z", "Z");

/** Both: on the clock of the zone, and in UTC. */
export function zonedTime(date: Date, timeZone: string): string {
  const clock = timeZone === "" || timeZone === "UTC" ? undefined : clockTime(date, timeZone);
  return clock === undefined ? exactTime(date) : `${clock} ${timeZone} (${exactTime(date)})`;
}
