// What a run's row says of its quarantine.

import type { Quarantine } from "./recovery.ts";

export interface QuarantineRow {
  readonly quarantined_at: Date | null;
  readonly quarantine_reason: Quarantine["reason"] | null;
  readonly quarantine_detail: string | null;
}

/** The quarantine of a run, or null. */
export function quarantineOf(row: QuarantineRow): Quarantine | null {
  const { quarantined_at: at, quarantine_reason: reason, quarantine_detail: detail } = row;
  return at === null
    ? null
    : { at: at.getTime(), reason: reason ?? "INTERNAL", detail: detail ?? "" };
}
