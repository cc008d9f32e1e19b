// A look at every queue of the engine at once: how long it is, when its next job is due, and for how long its oldest has waited. One
// index probe a queue for each, and a count that stops at a bound: never a scan of a long backlog.

import type { Queryable } from "../db/sql.ts";
import { NEVER_LATER } from "../queue/at-once.ts";
import type { BossQueue } from "../queue/boss.ts";
import { BOSS_SCHEMA, queueName } from "../queue/queue-name.ts";
import { DEAD_LETTERS, PAUSES, type QueueDepth, RATE_SLOTS } from "../queue/queue.ts";

interface QueueRow {
  readonly type: string;
  readonly due_in_ms: number | null;
  readonly age_ms: number | null;
  readonly first: number | null;
  readonly waiting: number;
  readonly epoch: number | null;
}

// Jobs without a delay come first in the order of `start_after`, and the oldest of them first among them. A job whose delay is over
// may have waited for longer, so the first of those is looked at too.
const TEXT = `
select n.type,
  (select extract(epoch from (j.start_after - now()))::float8 * 1000
   from ${BOSS_SCHEMA}.job j
   where j.name = n.queue and j.state < 'active'
   order by j.start_after
   limit 1) as due_in_ms,
  greatest(
    (select extract(epoch from (now() - greatest(j.start_after, j.created_on)))::float8 * 1000
     from ${BOSS_SCHEMA}.job j
     where j.name = n.queue and j.state < 'active'
     order by j.start_after
     limit 1),
    (select extract(epoch from (now() - j.start_after))::float8 * 1000
     from ${BOSS_SCHEMA}.job j
     where j.name = n.queue and j.state < 'active' and j.start_after > now() - interval '${NEVER_LATER}'
     order by j.start_after
     limit 1)
  ) as age_ms,
  (select j.priority
   from ${BOSS_SCHEMA}.job j
   where j.name = n.queue and j.state < 'active' and not j.blocked
   order by j.priority desc, j.created_on
   limit 1) as first,
  (select count(*)::integer
   from (select 1 from ${BOSS_SCHEMA}.job j where j.name = n.queue and j.state < 'active' limit 100000) waiting) as waiting,
  null::bigint as epoch
from unnest($1::text[], $2::text[]) as n (type, queue)
union all
select $3::text, extract(epoch from (min(k.wake_at) - now()))::float8 * 1000, null, null, 0, null
from slot_keys k
where k.wake_at is not null
having min(k.wake_at) is not null
union all
select $4::text, null, null, null, count(*)::integer, null
from (select 1 from dead_letters where state = 'open' limit 100000) dead
union all
select $5::text, null, null, null, 0, epoch
from pause_epoch`;

export async function readQueues(db: Queryable, boss: BossQueue): Promise<readonly QueueDepth[]> {
  const names = boss.nodeTypes;
  const { rows } = await db.query<QueueRow>({
    name: "pawl_queue_depths",
    text: TEXT,
    values: [names, names.map(queueName), RATE_SLOTS, DEAD_LETTERS, PAUSES],
  });
  for (const { type, first } of rows) if (first !== null) boss.sawFirst(type, first);
  return rows.map((row) => ({
    nodeType: row.type,
    waitingCount: row.waiting,
    ...(row.due_in_ms === null ? {} : { dueInMs: Math.max(0, row.due_in_ms) }),
    ...(row.age_ms === null ? {} : { ageMs: Math.max(0, row.age_ms) }),
    ...(row.epoch === null ? {} : { epoch: row.epoch }),
  }));
}
