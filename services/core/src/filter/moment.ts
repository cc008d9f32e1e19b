// Times and durations in a filter. Pure code has no Date, so the days are counted here.

const TIME =
  /^(\d{4})-(\d{2})-(\d{2})(?:[Tt](\d{2}):(\d{2}):(\d{2})(?:\.(\d{1,9}))?([Zz]|[+-]\d{2}:\d{2}))?$/;
const DAY_MS = 86_400_000;

/** Milliseconds since 1970 of an RFC 3339 time, or of a day, which begins at midnight UTC. Undefined if the text is neither. */
export function timeOf(text: string): number | undefined {
  const [
    found,
    year,
    month,
    day,
    hour = "0",
    minute = "0",
    second = "0",
    fraction = "0",
    zone = "Z",
  ] = TIME.exec(text) ?? [];
  if (found === undefined) return undefined;
  const date = [Number(year), Number(month), Number(day)] as const;
  if (!isDay(...date) || Number(hour) > 23 || Number(minute) > 59 || Number(second) > 59)
    return undefined;
  const offset = offsetMinutes(zone);
  if (offset === undefined) return undefined;
  const minutes = Number(hour) * 60 + Number(minute) - offset;
  const ms = Math.floor(Number(`0.${fraction}`) * 1_000);
  return daysSince1970(...date) * DAY_MS + minutes * 60_000 + Number(second) * 1_000 + ms;
}

function offsetMinutes(zone: string): number | undefined {
  if (zone === "Z" || zone === "z") return 0;
  const [hours, minutes] = [Number(zone.slice(1, 3)), Number(zone.slice(4))];
  if (hours > 23 || minutes > 59) return undefined;
  return (zone.startsWith("-") ? -1 : 1) * (hours * 60 + minutes);
}

function isDay(year: number, month: number, day: number): boolean {
  if (month < 1 || month > 12 || day < 1) return false;
  const isLeap = year % 4 === 0 && (year % 100 !== 0 || year % 400 === 0);
  const short = month === 2 ? (isLeap ? 29 : 28) : 30;
  return day <= (month === 2 ? short : [4, 6, 9, 11].includes(month) ? 30 : 31);
}

/** The proleptic Gregorian calendar, with years that begin in March so that the leap day is their last. */
function daysSince1970(year: number, month: number, day: number): number {
  const shifted = month > 2 ? year : year - 1;
  const era = Math.floor(shifted / 400);
  const yearOfEra = shifted - era * 400;
  const dayOfYear = Math.floor((153 * ((month + 9) % 12) + 2) / 5) + day - 1;
  const leapDays = Math.floor(yearOfEra / 4) - Math.floor(yearOfEra / 100);
  return era * 146_097 + yearOfEra * 365 + leapDays + dayOfYear - 719_468;
}

const UNIT_MS: Readonly<Record<string, number>> = {
  ms: 1,
  s: 1_000,
  m: 60_000,
  h: 3_600_000,
  d: DAY_MS,
};

/** Milliseconds of a duration such as `1.5s`. Undefined if the text is none. */
export function durationOf(text: string): number | undefined {
  const [, amount, unit = ""] = /^(\d{1,9}(?:\.\d{1,9})?)(ms|s|m|h|d)$/.exec(text) ?? [];
  const unitMs = UNIT_MS[unit];
  return amount === undefined || unitMs === undefined ? undefined : Number(amount) * unitMs;
}
