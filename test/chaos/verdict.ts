// What became of the runs of one experiment, from every source: the log, the projections and the queue, the definition alone, the clients
// that watched, and the outside world. The verdict reads them when all is quiet. It trusts no service except for reading a run.
import { isUndo } from "@pawl/core/log/undo-iteration";
import { effectKey, nodeId, runId } from "@pawl/core/name/ids";
import type { Client } from "pg";
import { checkInvariants } from "../support/invariants.ts";
import { differences } from "../stress/stress.ts";
import { dueOf, threadFaults } from "../stress/thread-oracle.ts";
import type { ChaosCluster } from "./chaos-cluster.ts";
import { WORK } from "./handler-process.ts";
import type { Submission } from "./load.ts";

/** Lists that must be empty, and counts. */
export type Verdict = {
  readonly offered: number;
  /** Why the others were not accepted, each reason once. */
  readonly refusals: readonly string[];
  readonly accepted: number;
  /** Calls that got no answer in time and were repeated. */
  readonly repeats: number;
  readonly lost: readonly string[];
  readonly duplicated: readonly string[];
  readonly staleAccepted: readonly string[];
  readonly stuck: readonly string[];
  /** Rules broken in any other way. */
  readonly broken: readonly string[];
  /** How many calls reached the outside world again under a key that it had already seen. */
  readonly rawDuplicates: number;
};

type Sorted = {
  -readonly [Kind in "lost" | "duplicated" | "staleAccepted" | "stuck" | "broken"]: string[];
};

const ALL_RUNS = `
select run_id as "runId", request_id as "requestId", parent_run_id as "parentRunId" from pawl.runs where run_id > $1`;

const EFFECTS = `
select e.run_id as "runId", e.node_id as "nodeId", e.iteration, d.body
from pawl.run_events e join pawl.runs r using (run_id) join pawl.definitions d using (definition_id)
where e.run_id = any ($1) and e.type = 'node.completed'`;

const LEDGER = `
select iteration, committed_epoch is not null as "isCommitted" from pawl.effects where run_id = $1 and node_id = 'agent' and name = 'work'`;

const CHILDREN = "select 1 from pawl.runs where parent_run_id = $1";

/** Judges the runs that began after the run `since`. */
export async function judge(
  cluster: ChaosCluster,
  db: Client,
  { submissions, since }: { readonly submissions: readonly Submission[]; readonly since: string },
): Promise<Verdict> {
  const sorted: Sorted = { lost: [], duplicated: [], staleAccepted: [], stuck: [], broken: [] };
  const { rows } = await db.query<{
    runId: string;
    requestId: string | null;
    parentRunId: string | null;
  }>(ALL_RUNS, [since]);
  const runIds = rows.map((row) => row.runId);
  const accepted = submissions.filter((each) => each.runId !== "");
  judgeAcceptance(rows, submissions, sorted);
  for (const rule of await checkInvariants(cluster.databaseUrl, [
    ...new Set([...runIds, ...accepted.map((each) => each.runId)]),
  ]))
    sorted[kindOf(rule)].push(rule);
  const known = new Set(runIds);
  for (const submission of accepted) {
    judgeStream(submission, sorted);
    if (known.has(submission.runId)) await judgeEnd(cluster, submission, sorted);
  }
  await judgeThreads(db, accepted, sorted);
  await judgeAgents(cluster, db, accepted, sorted);
  const rawDuplicates = await judgeEffects(cluster, db, runIds, sorted);
  const repeats = submissions.reduce((sum, each) => sum + each.repeats, 0);
  const offered = submissions.filter(({ isTurnedAway }) => !isTurnedAway).length;
  const refusals = [
    ...new Set(submissions.flatMap((each) => (each.isTurnedAway ? [] : each.refusal || []))),
  ];
  return { offered, refusals, accepted: accepted.length, repeats, ...sorted, rawDuplicates };
}

/** Where a broken invariant belongs. */
function kindOf(rule: string): keyof Sorted {
  if (rule.endsWith("the run is lost")) return "lost";
  if (/ of epoch \d+ under claim /.test(rule)) return "staleAccepted";
  if (/ settled at \d+$| is queued twice$/.test(rule)) return "duplicated";
  return "broken";
}

/** Accepted submissions and runs are the same thing. */
function judgeAcceptance(
  rows: readonly { readonly requestId: string | null; readonly parentRunId: string | null }[],
  submissions: readonly Submission[],
  { duplicated }: Sorted,
): void {
  const own = rows.filter(({ parentRunId }) => parentRunId === null);
  const asked = new Set(
    submissions.filter(({ isTurnedAway }) => !isTurnedAway).map(({ requestId }) => requestId),
  );
  const seen = new Set<string>();
  for (const { requestId } of own) {
    const id = requestId ?? "";
    if (!asked.has(id)) duplicated.push(`a run nobody asked for: ${id}`);
    if (seen.has(id)) duplicated.push(`two runs for request ${id}`);
    seen.add(id);
  }
}

/** Every event once, in order, from the first to the last. */
function judgeStream(
  { runId: id, eventIds, watchFault, hasEnded }: Submission,
  sorted: Sorted,
): void {
  if (watchFault !== "") sorted.broken.push(`${id}: its watcher gave up: ${watchFault}`);
  if (!hasEnded && watchFault === "") sorted.stuck.push(`${id}: its watcher never saw the end`);
  eventIds.forEach((eventId, index) => {
    const due = (eventIds[index - 1] ?? 0) + 1;
    if (eventId > due) sorted.lost.push(`${id}: event ${eventId} came, ${due} was due`);
    if (eventId < due) sorted.duplicated.push(`${id}: event ${eventId} came again`);
  });
}

/** As the definition says. */
async function judgeEnd(
  { clients }: ChaosCluster,
  { runId: id, shape, index, added }: Submission,
  sorted: Sorted,
): Promise<void> {
  const run = (await clients[0]?.runs.get(id))?.run;
  if (run === undefined) return;
  if (run.endTime === undefined) {
    const open = run.nodes
      .filter(({ endTime }) => endTime === undefined)
      .map(({ nodeId: node }) => node);
    sorted.stuck.push(`${shape.name} ${id} still runs; open: ${open.join(", ")}`);
    return;
  }
  const expected = dueOf(shape, index, run);
  sorted.lost.push(...differences({ run, shape, expected, added }));
}

/** Every thread has its runs in line, one at a time. */
async function judgeThreads(
  db: Client,
  submissions: readonly Submission[],
  { broken }: Sorted,
): Promise<void> {
  const turns = submissions.flatMap(({ shape, ...submission }) => {
    const multitask = shape.multitask?.(submission.index);
    return multitask === undefined ? [] : [{ ...submission, multitask }];
  });
  for (const [threadId, own] of Map.groupBy(turns, (turn) => turn.threadId))
    broken.push(...(await threadFaults(db, threadId, own)));
}

/** Every call of a tool made its effect and committed it once, and every call of a workflow began one run. */
async function judgeAgents(
  { effects }: ChaosCluster,
  db: Client,
  submissions: readonly Submission[],
  { lost, duplicated }: Sorted,
): Promise<void> {
  for (const { runId: id, shape } of submissions) {
    if (shape.calls === undefined) continue;
    const children = await db.query(CHILDREN, [id]);
    if (children.rowCount !== 1) duplicated.push(`${id}: ${children.rowCount} child runs`);
    // The tasks of peers make no effects.
    if (shape.hasEffects !== true) continue;
    const { rows } = await db.query<{ iteration: number; isCommitted: boolean }>(LEDGER, [id]);
    const committed = new Set(rows.flatMap((row) => (row.isCommitted ? [row.iteration] : [])));
    for (const iteration of shape.calls) {
      const key = effectKey(runId(id), nodeId("agent"), iteration);
      if (!committed.has(iteration)) lost.push(`${key} is not committed`);
      if (!effects.calls.has(key)) lost.push(`${key} was never done`);
    }
    for (const { iteration } of rows)
      if (!shape.calls.includes(iteration)) duplicated.push(`${id}: a call of agent#${iteration}`);
  }
}

/** Every completed node had its effect under its own key. Further calls count as repeats. */
async function judgeEffects(
  { effects }: ChaosCluster,
  db: Client,
  runIds: readonly string[],
  sorted: Sorted,
): Promise<number> {
  const { rows } = await db.query<{
    runId: string;
    nodeId: string;
    iteration: number;
    body: string;
  }>(EFFECTS, [runIds]);
  const httpNodes = new Map<string, ReadonlySet<string>>();
  for (const row of rows) {
    const nodes = httpNodes.get(row.body) ?? effectNodesOf(row.body);
    httpNodes.set(row.body, nodes);
    if (!isEffect(nodes, row)) continue;
    const key = effectKey(runId(row.runId), nodeId(row.nodeId), row.iteration);
    if (!effects.calls.has(key)) sorted.lost.push(`${key} completed and was never done`);
  }
  const own = new Set(runIds);
  let repeats = 0;
  for (const [key, count] of effects.calls) {
    const [id = ""] = key.split("/");
    if (own.has(id)) repeats += count - 1;
    else if (id === "" || !/^[0-9a-f-]{36}\/[^/]+\/\d+$/.test(key))
      sorted.broken.push(`an effect under the key "${key}"`);
  }
  return repeats;
}

/** Whether an execution calls the outside world. A later round of a node has an iteration, too. */
function isEffect(
  nodes: ReadonlySet<string>,
  { nodeId: id, iteration }: { readonly nodeId: string; readonly iteration: number },
): boolean {
  if (isUndo(iteration)) return nodes.has(`${id} undone`);
  return nodes.has(id) || (iteration > 0 && nodes.has(`${id}#`));
}

/** The nodes of a definition that call the outside world: "map#" if its iterations do, "a undone" if its compensation does. */
function effectNodesOf(body: string): ReadonlySet<string> {
  const { nodes } = JSON.parse(body) as {
    nodes: {
      id: string;
      type: string;
      config?: { body?: { type?: string } };
      compensation?: { type?: string };
    }[];
  };
  return new Set(
    nodes.flatMap(({ id, type, config, compensation }) => [
      ...(type === "http" || type === WORK ? [id] : []),
      ...(config?.body?.type === "http" ? [`${id}#`] : []),
      ...(compensation?.type === "http" ? [`${id} undone`] : []),
    ]),
  );
}
