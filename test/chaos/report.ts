// The report of a chaos run: one line for all, one line for each fault, and every broken rule.
import type { Outcome } from "./experiment.ts";
import { quantile } from "./recovery.ts";

const SHOWN = 40;

const seconds = (ms: number): string => `${(ms / 1_000).toFixed(2)} s`;
const total = (outcomes: readonly Outcome[], of: (outcome: Outcome) => number): number =>
  outcomes.reduce((sum, outcome) => sum + of(outcome), 0);

/** The line that counts. */
export function resultLine(outcomes: readonly Outcome[]): string {
  const count = (of: (outcome: Outcome) => number): number => total(outcomes, of);
  const times = outcomes.flatMap(({ recoveryMs }) => recoveryMs);
  return [
    `lost ${count(({ verdict }) => verdict.lost.length)}`,
    `duplicated ${count(({ verdict }) => verdict.duplicated.length)}`,
    `stale-accepted ${count(({ verdict }) => verdict.staleAccepted.length)}`,
    `stuck ${count(({ verdict }) => verdict.stuck.length)} of ${count(({ verdict }) => verdict.accepted)} accepted over ${outcomes.length} faults (${count(
      ({ hits }) => hits.filter(({ isObserved }) => isObserved).length,
    )} hits, ${count(({ counts }) => counts.refused)} refusals); raw duplicate effects ${count(
      ({ verdict }) => verdict.rawDuplicates,
    )}; recovery p50 ${seconds(quantile(times, 0.5))} / p99 ${seconds(quantile(times, 0.99))} / max ${seconds(quantile(times, 1))}`,
  ].join(" / ");
}

/** The faults of an outcome; none if it proves the promise. */
export function faultsOf({ fault, verdict, counts, voids }: Outcome): string[] {
  const { lost, duplicated, staleAccepted, stuck, broken } = verdict;
  const named = Object.entries({
    lost,
    duplicated,
    "stale-accepted": staleAccepted,
    stuck,
    broken,
  });
  return [
    ...voids.map((why) => `${fault.id} void: ${why}`),
    ...named.flatMap(([kind, rules]) => rules.map((rule) => `${fault.id} ${kind}: ${rule}`)),
    ...(fault.rules?.(counts) ?? []).map((rule) => `${fault.id} rule: ${rule}`),
  ];
}

/** One line about one fault. */
export function outcomeLine({ fault, hits, verdict, counts, recoveryMs, ms }: Outcome): string {
  const recovered = Object.entries(counts.recovered)
    .map(([reason, count]) => `${count} ${reason}`)
    .join(", ");
  return `${fault.id.padEnd(4)} ${fault.title}: ${verdict.accepted} of ${verdict.offered} accepted (${verdict.repeats} calls repeated), ${hits.length} hits, ${counts.refused} refusals, ${counts.claims} claims (${recovered || "none"} taken back), ${verdict.rawDuplicates} raw duplicates, recovery max ${seconds(quantile(recoveryMs, 1))}, took ${seconds(ms)}`;
}

/** Prints it all; whether everything holds. */
export function tellReport(outcomes: readonly Outcome[], print: (line: string) => void): boolean {
  for (const outcome of outcomes) print(outcomeLine(outcome));
  const faults = outcomes.flatMap(faultsOf);
  for (const fault of faults.slice(0, SHOWN)) print(fault);
  if (faults.length > SHOWN) print(`and ${faults.length - SHOWN} more`);
  print(resultLine(outcomes));
  return faults.length === 0 && outcomes.length > 0;
}
