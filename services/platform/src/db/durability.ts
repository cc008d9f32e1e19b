// Whether the database keeps acknowledged commits. Three settings of PostgreSQL give that up for speed. With one of them off, a crash of
// the server or its machine may damage the database or lose commits, and with them whole runs. Pawl still runs (tests do so on purpose),
// but every service warns in its log and in /readyz. The watch reads the settings in a session of Pawl, so settings of a role or a database
// count too. Settings may change, and after a failover another server's settings apply. So the watch reads them again every few minutes.

import type { ReadyNotes } from "../lifecycle/ready-notes.ts";
import type { Logger } from "../telemetry/log.ts";
import { list, text } from "./columns.ts";
import { queriesBeside, type Queryable, run } from "./query.ts";

/** The risk while a setting is off. */
const AT_STAKE: Readonly<Record<string, string>> = {
  fsync: "a crash of the database's machine may damage or lose the whole database",
  full_page_writes: "a crash of the database's machine may damage the database",
  synchronous_commit:
    "a crash of the database may lose the last commits, although their callers were answered",
};
const EVERY_MS = 5 * 60_000;

const settingsOff = queriesBeside(import.meta.url)(
  "settings_off",
  { names: list(text()) },
  { name: text() },
);

/** The settings that are off and should be on. */
export async function unsafeSettings(db: Queryable): Promise<string[]> {
  const rows = await run(db, settingsOff, { names: Object.keys(AT_STAKE) });
  return rows.map(({ name }) => name);
}

/** The risk of a setting that is off, and what to do about it. */
export const durabilityWarning = (setting: string): string =>
  `${setting} is off: ${AT_STAKE[setting] ?? "commits may be lost"}. Set ${setting} = on in PostgreSQL.`;

/** Reads the settings from time to time; logs a warning and sets a note for each one that is off. */
export function watchDurability(
  db: Queryable,
  { notes, log }: { readonly notes: ReadyNotes; readonly log: Logger },
) {
  /** Reads the settings now. During an outage the last known settings stay. */
  const look = async (): Promise<void> => {
    const unsafe = await unsafeSettings(db).catch(() => undefined);
    if (unsafe === undefined) return;
    for (const setting of Object.keys(AT_STAKE)) {
      const warning = unsafe.includes(setting) ? durabilityWarning(setting) : undefined;
      const isNew = notes.set(`database.${setting}`, warning);
      if (isNew && warning !== undefined) log.warn({ setting }, warning);
      if (isNew && warning === undefined) log.info({ setting }, `${setting} is on again`);
    }
  };
  const timer = setInterval(() => void look(), EVERY_MS).unref();
  return { look, stop: (): void => clearInterval(timer) };
}
