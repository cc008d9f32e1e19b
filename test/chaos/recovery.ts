// How long recovery took after a hit, read from the log: until the first node completed after the end of the fault, and until every claim
// that the hit cost was given to another executor.
import type { Client } from "pg";
import type { Struck } from "./fault.ts";

const COMPLETIONS = `
select extract(epoch from at)::float8 * 1000 as at from pawl.run_events
where run_id > $1 and type = 'node.completed' order by at`;

const RESTARTS = `
select extract(epoch from lost.at)::float8 * 1000 as lost_at, extract(epoch from min(again.at))::float8 * 1000 as again_at
from pawl.run_events lost
join pawl.run_events again on again.run_id = lost.run_id and again.node_id = lost.node_id
  and again.iteration = lost.iteration and again.seq > lost.seq and again.type = 'node.started'
where lost.run_id > $1 and lost.type = 'run.recovered' and lost.payload->>'reason' <> 'released'
group by lost.run_id, lost.seq, lost.at
order by 1`;

/** Milliseconds for each hit that was followed by any work. */
export async function recoveryTimes(
  db: Client,
  since: string,
  hits: readonly Struck[],
): Promise<number[]> {
  const completions = (await db.query<{ at: number }>(COMPLETIONS, [since])).rows;
  const restarts = (await db.query<{ lost_at: number; again_at: number }>(RESTARTS, [since])).rows;
  return hits.flatMap((hit, index) => {
    const next = hits[index + 1];
    // The cost of preparing the next strike does not count as recovery.
    const isSameStrike = next?.intendedAt === hit.intendedAt;
    const nextAt = (isSameStrike ? next.at : next?.intendedAt) ?? Infinity;
    const first = completions.find(({ at }) => at >= hit.overAt);
    if (first === undefined) return [];
    const again = restarts
      .filter(({ lost_at: at }) => at >= hit.at && at < nextAt)
      .map((restart) => restart.again_at - hit.at);
    return [Math.max(first.at - hit.overAt, ...again)];
  });
}

/** The value below which this share of them lies. */
export function quantile(values: readonly number[], share: number): number {
  const sorted = values.toSorted((a, b) => a - b);
  return sorted[Math.min(sorted.length - 1, Math.floor(share * sorted.length))] ?? 0;
}
