// One experiment: a load, a fault that strikes again and again, quiet, and a verdict. It is void and proves nothing unless the fault really
// struck, the cluster really accepted the load, and, if it is about fencing, the scheduler really refused a claim.
import { setTimeout as pause } from "node:timers/promises";
import { Client } from "pg";
import { seededRandom } from "../stress/random.ts";
import type { ChaosCluster } from "./chaos-cluster.ts";
import {
  between,
  type Counts,
  type Fault,
  type Hit,
  type Scene,
  type Size,
  type Struck,
} from "./fault.ts";
import { Load } from "./load.ts";
import { recoveryTimes } from "./recovery.ts";
import { effectShapes } from "./shapes.ts";
import { judge, type Verdict } from "./verdict.ts";

/** The outcome of an experiment. */
export type Outcome = {
  readonly fault: Fault;
  readonly hits: readonly Struck[];
  readonly verdict: Verdict;
  readonly counts: Counts;
  readonly recoveryMs: readonly number[];
  /** Why it proves nothing. */
  readonly voids: readonly string[];
  readonly ms: number;
};

/** How to do it. */
type ExperimentOptions = {
  readonly cluster: ChaosCluster;
  readonly size: Size;
  readonly seed: number;
  /** Runs at least. */
  readonly runs: number;
  readonly onHit: (fault: Fault, phase: "intended" | "observed", hit: Partial<Hit>) => void;
  readonly onProgress: (text: string) => void;
};

/** The prefix of the workflows with effects. */
export const EFFECT_PREFIX = "effect";
const EVERY_MS = 180;
const RUNS_MOST = 20_000;
/** Every accepted run has ended by then, or it is stuck. */
const QUIET_MS = 90_000;
const ACCEPTED_SHARE = 0.95;

/** Runs it. */
export async function experiment(fault: Fault, options: ExperimentOptions): Promise<Outcome> {
  const { cluster, size, seed, onProgress } = options;
  const runs = Math.min(options.runs, fault.runsMost?.[size] ?? Infinity);
  const began = performance.now();
  const database = new Database(cluster.databaseUrl);
  try {
    const db = await database.client();
    const since = await lastRunId(db);
    const refusedBefore = refusals(cluster);
    const scene: Scene = {
      cluster,
      random: seededRandom(seed),
      size,
      db: () => database.client(),
    };
    await fault.begin?.(scene);
    const load = new Load({
      clients: cluster.clients,
      shapes: fault.shapes?.all ?? effectShapes(cluster.effects.url),
      prefix: fault.shapes?.prefix ?? EFFECT_PREFIX,
      everyMs: fault.everyMs ?? EVERY_MS,
      seed,
      most: fault.runsMost?.[size] ?? RUNS_MOST,
    });
    load.start();
    const hits = await strikes(fault, scene, options, load);
    while (load.submissions.length < runs) await pause(EVERY_MS);
    onProgress(`${fault.id} quiet: waiting for ${load.submissions.length} runs to end`);
    await load.finish(QUIET_MS);
    const own = (await fault.end?.(scene)) ?? 0;
    const { submissions } = load;
    const quiet = await database.client();
    const verdict = await judge(cluster, quiet, { submissions, since });
    const counts = await countsOf(quiet, since, {
      rawDuplicates: verdict.rawDuplicates,
      refused: refusals(cluster) - refusedBefore + own,
    });
    const recoveryMs = await recoveryTimes(quiet, since, hits);
    const voids = voidsOf({ fault, size }, hits, verdict, counts);
    return { fault, hits, verdict, counts, recoveryMs, voids, ms: performance.now() - began };
  } finally {
    await database.close();
  }
}

async function strikes(
  fault: Fault,
  scene: Scene,
  { onHit, onProgress }: ExperimentOptions,
  load: Load,
): Promise<Struck[]> {
  const hits: Struck[] = [];
  const [least, most] = fault.gapMs;
  for (let nth = 0; nth < fault.hits[scene.size]; nth += 1) {
    await pause(between(least, most, scene.random));
    const intendedAt = Date.now();
    onHit(fault, "intended", { at: intendedAt });
    const struck = [await fault.strike(scene, nth)].flat();
    for (const hit of struck) onHit(fault, "observed", hit);
    hits.push(...struck.map((hit) => ({ ...hit, intendedAt })));
    const told = struck.map(({ target, detail }) => `${target}: ${detail}`).join(", ");
    onProgress(
      `${fault.id} ${nth + 1}/${fault.hits[scene.size]} ${told}; ${load.acceptedCount} accepted, ${load.endedCount} ended`,
    );
  }
  return hits;
}

function voidsOf(
  { fault, size }: { readonly fault: Fault; readonly size: Size },
  hits: readonly Hit[],
  verdict: Verdict,
  counts: Counts,
): string[] {
  const voids: string[] = [];
  if (!hits.some(({ isObserved }) => isObserved)) voids.push("the fault never struck");
  const missed = hits.filter(({ isObserved }) => !isObserved);
  if (fault.needsEveryHit === true)
    for (const { target, detail } of missed) voids.push(`${target} was not struck: ${detail}`);
  if (verdict.accepted < ACCEPTED_SHARE * verdict.offered)
    voids.push(
      `only ${verdict.accepted} of ${verdict.offered} were accepted: ${verdict.refusals.join("; ")}`,
    );
  // One freeze may hit an executor without a claim; several do not.
  if (fault.isFencing === true && size !== "short" && counts.refused === 0)
    voids.push("nobody was refused");
  return voids;
}

/** Claims that an executor still held when the scheduler refused them. */
const refusals = ({ executors }: ChaosCluster): number =>
  executors.reduce((sum, member) => sum + member.logs().split('"claim lost"').length - 1, 0);

async function lastRunId(db: Client): Promise<string> {
  const { rows } = await db.query<{ id: string }>(
    "select run_id as id from pawl.runs order by run_id desc limit 1",
  );
  return rows[0]?.id ?? "00000000-0000-0000-0000-000000000000";
}

const COUNTS = `
select count(*) filter (where type = 'node.started')::integer as claims,
  count(*) filter (where type = 'node.retried')::integer as retries
from pawl.run_events where run_id > $1`;
const RECOVERED = `
select payload->>'reason' as reason, count(*)::integer as count from pawl.run_events
where run_id > $1 and type = 'run.recovered' group by 1`;

async function countsOf(
  db: Client,
  since: string,
  seen: Pick<Counts, "rawDuplicates" | "refused">,
): Promise<Counts> {
  const { rows } = await db.query<{ claims: number; retries: number }>(COUNTS, [since]);
  const recovered = await db.query<{ reason: string; count: number }>(RECOVERED, [since]);
  return {
    claims: rows[0]?.claims ?? 0,
    retries: rows[0]?.retries ?? 0,
    recovered: Object.fromEntries(recovered.rows.map(({ reason, count }) => [reason, count])),
    ...seen,
  };
}

/** A connection that is opened again when its server went away. */
class Database {
  readonly #url: string;
  #client: Client | undefined;

  constructor(url: string) {
    this.#url = url;
  }

  async client(): Promise<Client> {
    if (this.#client !== undefined) return this.#client;
    const client = new Client({ connectionString: this.#url, application_name: "chaos" });
    const forget = (): void => {
      if (this.#client === client) this.#client = undefined;
    };
    client.on("error", forget);
    client.on("end", forget);
    await client.connect();
    this.#client = client;
    return client;
  }

  async close(): Promise<void> {
    await this.#client?.end().catch(() => undefined);
  }
}
