// How many node executions are where: in the queues and waiting for slots, claimed, waiting for a person, given up. Read side
// only, when somebody asks; counts stop at a bound, so a long backlog costs no more than that.

import type { DefinitionId, NodeId } from "@pawl/core/name/ids";
import { type Queryable, run } from "../db/sql.ts";
import { BOSS_SCHEMA, queueName } from "../queue/queue-name.ts";
import { countDeadLetters } from "./statements/count-dead-letters.ts";
import { countLeases } from "./statements/count-leases.ts";
import { countOpenApprovals } from "./statements/count-open-approvals.ts";
import { countWaitingSlots } from "./statements/count-waiting-slots.ts";

export interface TypeDepth {
  readonly nodeType: string;
  readonly waiting: number;
  readonly active: number;
  readonly deadLetter: number;
}

export interface Depths {
  /** Types with something to count, by name. */
  readonly types: readonly TypeDepth[];
  /** Executions that wait for a person. */
  readonly paused: number;
}

/** The type of a node's execution; iteration 1 stands for all of a map's or loop's. */
export type TypeOf = (
  definitionId: DefinitionId,
  nodeId: NodeId,
  iteration: number,
) => Promise<string | undefined>;

interface TypeCount {
  readonly node_type: string;
  readonly count: number;
}

interface LeaseCount {
  readonly definition_id: DefinitionId;
  readonly node_id: NodeId;
  readonly iteration: number;
  readonly count: number;
}

type Counted = "waiting" | "active" | "deadLetter";

/** @throws STORE_UNAVAILABLE */
export async function readDepths(db: Queryable, tenantId: string, typeOf: TypeOf): Promise<Depths> {
  const [jobs, slots, leases, dead, [held]] = await Promise.all([
    countJobs(db),
    run<TypeCount>(db, countWaitingSlots, []),
    run<LeaseCount>(db, countLeases, [tenantId]),
    run<TypeCount>(db, countDeadLetters, [tenantId]),
    run<{ count: number }>(db, countOpenApprovals, [tenantId]),
  ]);
  const types = new Map<string, Record<Counted, number>>();
  const add = (what: Counted, nodeType: string, count: number): void => {
    const depth = types.get(nodeType) ?? { waiting: 0, active: 0, deadLetter: 0 };
    depth[what] += count;
    if (count > 0) types.set(nodeType, depth);
  };
  for (const { node_type, count } of [...jobs, ...slots]) add("waiting", node_type, count);
  for (const { node_type, count } of dead) add("deadLetter", node_type, count);
  for (const { definition_id, node_id, iteration, count } of leases) {
    // A test run may be deleted while we look.
    const nodeType = await typeOf(definition_id, node_id, iteration);
    if (nodeType !== undefined) add("active", nodeType, count);
  }
  const byName = [...types].toSorted(([a], [b]) => (a < b ? -1 : 1));
  return {
    types: byName.map(([nodeType, depth]) => ({ nodeType, ...depth })),
    paused: held?.count ?? 0,
  };
}

const PREFIX = queueName("");

/** Jobs by node type. Queues of the engine itself begin with an underscore, as no node type does. */
async function countJobs(db: Queryable): Promise<TypeCount[]> {
  const { rows } = await db.query<{ name: string; count: number }>({
    name: "pawl_count_jobs",
    text: `
select q.name, (
  select count(*)::integer
  from (select 1 from ${BOSS_SCHEMA}.job j where j.name = q.name and j.state < 'active' limit 100000) waiting
) as count
from ${BOSS_SCHEMA}.queue q
where starts_with(q.name, $1::text)
  and not starts_with(q.name, $1::text || '_')`,
    values: [PREFIX],
  });
  return rows.map(({ name, count }) => ({ node_type: name.slice(PREFIX.length), count }));
}
