// Many runs of every shape at once, on two trios, under results that come twice and out of order. Every run must end as the expectation
// says, node by node, in whatever order the results came.
import { jsonOf, nodeStatusName, runStatusName, type PawlClient } from "@pawl/client";
import type { Run } from "@pawl/proto/pawl/v1/run_pb";
import { Client } from "pg";
import { checkInvariants } from "../support/invariants.ts";
import { until } from "../support/until.ts";
import type { Expectation } from "./expectation.ts";
import { readLogFacts } from "./log-facts.ts";
import { answerTo } from "./person.ts";
import { seededRandom, shuffled } from "./random.ts";
import type { Shape } from "./shape.ts";
import type { StressCluster } from "./stress-cluster.ts";
import {
  dueOf,
  isTurnedAway,
  startOf,
  threadFaults,
  threadOf,
  type Turn,
} from "./thread-oracle.ts";

/** One line of the table. */
export type Row = {
  readonly name: string;
  readonly runs: number;
  readonly expected: string;
  readonly got: string;
  /** Node executions that settled. */
  readonly nodes: number;
  readonly refused: number;
  readonly ms: number;
};

/** The result; no run differs from its expectation if `faults` is empty. */
type StressResult = { readonly rows: readonly Row[]; readonly faults: readonly string[] };

/** How much. */
type StressOptions = {
  readonly shapes: readonly Shape[];
  readonly runs: number;
  readonly seed: number;
  /** Holds every shape to `runs`, also those that ask for more. */
  readonly isShort?: boolean;
  readonly onShape?: (name: string) => void;
};

/** A run as it ended, and as it must have. */
type Ended = {
  readonly run: Run;
  readonly shape: Shape;
  readonly expected: Expectation;
  /** The node executions that a person added to its budget. */
  readonly added: number;
  /** Its turn of a thread. */
  readonly turn?: Turn;
};
type Wave = { readonly name: string; readonly ended: readonly Ended[]; readonly ms: number };

/** Runs shape after shape, each with all of its runs at once, and then all shapes at once in random order. */
export async function stress(
  cluster: StressCluster,
  options: StressOptions,
): Promise<StressResult> {
  const { shapes, runs, seed, isShort = false, onShape } = options;
  await save(cluster.clients[0], shapes);
  const waves: Wave[] = [];
  const wave = async (name: string, of: readonly Shape[]): Promise<void> => {
    onShape?.(name);
    const began = performance.now();
    const lives = of.map((shape, index) => runOnce(cluster, { shape, index, group: idOf(name) }));
    const ended = (await Promise.all(lives)).filter((each) => each !== undefined);
    waves.push({ name, ended, ms: performance.now() - began });
  };
  for (const shape of shapes) {
    const count = isShort ? runs : Math.max(runs, shape.atLeast ?? 0);
    await wave(
      shape.name,
      Array.from({ length: count }, () => shape),
    );
  }
  const each = Math.ceil(runs / 4);
  const all = shapes.flatMap((shape) => Array.from({ length: each }, () => shape));
  await wave("all at once", shuffled(all, seededRandom(seed)));
  await until(() => cluster.peers.every((peer) => peer.unanswered() === 0), {
    what: "an answer to every repeat",
  });
  return await judge(cluster, waves);
}

const idOf = (name: string): string => `stress-${name.toLowerCase().replaceAll(" ", "-")}`;

async function save(client: PawlClient, shapes: readonly Shape[]): Promise<void> {
  for (const { name, definition, children = {} } of shapes) {
    for (const [workflowId, child] of Object.entries(children))
      await client.workflows.create(child, { workflowId });
    await client.workflows.create(definition, { workflowId: idOf(name) });
  }
}

/** Starts runs on one side, waits on the other, and decides as a person would, on both. */
async function runOnce(
  { clients }: StressCluster,
  {
    shape,
    index,
    group,
  }: { readonly shape: Shape; readonly index: number; readonly group: string },
): Promise<Ended | undefined> {
  const [here, there] = index % 2 === 0 ? clients : [clients[1], clients[0]];
  const multitask = shape.multitask?.(index);
  const sentAt = performance.now();
  const run = await here.runs.start(idOf(shape.name), startOf(shape, index, group)).then(
    (started) => started.run,
    (error: unknown) => {
      if (isTurnedAway(error, multitask)) return undefined;
      throw error;
    },
  );
  if (run === undefined) return undefined;
  const acceptedAt = performance.now();
  let added = 0;
  for await (const event of there.watch(run.runId)) {
    const answer = answerTo(shape, index, event);
    if (answer === undefined) continue;
    await Promise.all(clients.map((client) => answer.give(client)));
    added += answer.added;
  }
  const { run: ended } = await there.runs.get(run.runId);
  const turn =
    multitask === undefined ? {} : { turn: { ...run, index, multitask, sentAt, acceptedAt } };
  return { run: ended, shape, expected: dueOf(shape, index, ended), added, ...turn };
}

async function judge(cluster: StressCluster, waves: readonly Wave[]): Promise<StressResult> {
  const { peers, databaseUrl } = cluster;
  const facts = await readLogFacts(databaseUrl);
  const faults = waves.flatMap(({ ended }) => ended.flatMap((each) => differences(each)));
  if (facts.doubleDispatches > 0) faults.push(`${facts.doubleDispatches} double dispatches`);
  if (facts.repeatsTaken > 0) faults.push(`${facts.repeatsTaken} events hold what a repeat said`);
  if (facts.recovered > 0) faults.push(`${facts.recovered} claims were lost, and nobody died`);
  // Void unless both peers and both executors really worked.
  if (facts.executorIds.length !== 4) faults.push(`${facts.executorIds.length} of 4 worked`);
  faults.push(...(await checkInvariants(databaseUrl)));
  faults.push(...(await faultsOfThreads(databaseUrl, waves)));
  const rows = waves.map(({ name, ended, ms }): Row => {
    const total = (of: (runId: string) => number): number =>
      ended.reduce((sum, { run }) => sum + of(run.runId), 0);
    return {
      name,
      runs: ended.length,
      expected: tellStatuses(ended.map(({ expected }) => expected.status)),
      got: tellStatuses(ended.map(({ run }) => runStatusName(run.status))),
      nodes: total((runId) => facts.settled.get(runId) ?? 0),
      refused: total((runId) => peers[0].refused(runId) + peers[1].refused(runId)),
      ms: Math.round(ms),
    };
  });
  return { rows, faults };
}

async function faultsOfThreads(databaseUrl: string, waves: readonly Wave[]): Promise<string[]> {
  const db = new Client({ connectionString: databaseUrl });
  await db.connect();
  try {
    const faults: string[] = [];
    for (const { name, ended } of waves)
      for (const [shape, runs] of Map.groupBy(ended, (each) => each.shape))
        if (shape.multitask !== undefined) {
          const turns = runs.flatMap(({ turn }) => turn ?? []);
          faults.push(...(await threadFaults(db, threadOf(shape, idOf(name)), turns)));
        }
    return faults;
  } finally {
    await db.end();
  }
}

/** The statuses of a run and its nodes that differ from the expected ones. */
export function differences({ run, shape: { name, output }, expected, added }: Ended): string[] {
  if (expected.covered !== undefined) return excess(name, run, expected.covered);
  if (expected.isStopped === true) return halted(name, run);
  const got = new Map<string, string>([
    ["the run", runStatusName(run.status)],
    ["hasFailures", String(run.hasFailures)],
    ["the count of repeats", String(run.state?.iterationCount ?? 0)],
    ["the count of undone executions", String(run.compensation?.undone ?? 0)],
    ["the count of what is left to undo", String(run.compensation?.left ?? 0)],
    ...run.nodes.map(({ nodeId, iteration, status }): [string, string] => [
      iteration === 0 ? nodeId : `${nodeId}#${iteration}`,
      // A time-out is a failure: which of a node's limits strikes first is the machine's affair.
      nodeStatusName(status).replace("timed_out", "failed"),
    ]),
  ]);
  const due = new Map<string, string>([
    ["the run", expected.status],
    ["hasFailures", String(expected.hasFailures)],
    ["the count of repeats", String(expected.repeats)],
    ["the count of undone executions", String(expected.undone)],
    ["the count of what is left to undo", "0"],
    ...Object.entries(expected.nodes),
  ]);
  if (output !== undefined) {
    got.set("the output", JSON.stringify(jsonOf(run.outputJson)));
    due.set("the output", JSON.stringify(output));
  }
  if (expected.budget !== undefined) {
    got.set("the budget", String(run.budget?.nodeExecutions ?? 0));
    due.set("the budget", String(expected.budget + added));
  }
  return [...new Set([...due.keys(), ...got.keys()])].flatMap((key) =>
    due.get(key) === got.get(key)
      ? []
      : [`${name} ${run.runId}: ${key} is ${got.get(key)}, ${due.get(key)} was due`],
  );
}

/** Whether a stopped run did not end. */
function halted(name: string, { runId, status, nodes, compensation }: Run): string[] {
  const open = nodes.filter(({ endTime }) => endTime === undefined).length;
  const faults = [
    ...(runStatusName(status) === "cancelled" ? [] : [`the run is ${runStatusName(status)}`]),
    ...(open === 0 ? [] : [`${open} nodes are not settled`]),
    ...((compensation?.left ?? 0) === 0 ? [] : [`${compensation?.left} are not undone`]),
  ];
  return faults.map((fault) => `${name} ${runId}: ${fault}, and the run was stopped`);
}

/** Whether a run has passed its budget, or did not end by it. */
function excess(name: string, { runId, status, usage, nodes }: Run, covered: number): string[] {
  const used = Number(usage?.nodeExecutions ?? 0);
  const completed = nodes.filter(
    (node) => node.nodeId !== "start" && nodeStatusName(node.status) === "completed",
  ).length;
  const open = nodes.filter(({ endTime }) => endTime === undefined).length;
  const faults = [
    runStatusName(status) === "failed" ? "" : `the run is ${runStatusName(status)}`,
    used <= covered ? "" : `${used} executions are counted`,
    completed <= covered ? "" : `${completed} nodes completed`,
    open === 0 ? "" : `${open} nodes are not settled`,
  ];
  return faults.flatMap((fault) =>
    fault === "" ? [] : [`${name} ${runId}: ${fault}, of a budget of ${covered}`],
  );
}

/** "completed", or "10 completed, 10 failed". */
function tellStatuses(statuses: readonly string[]): string {
  const groups = [...Map.groupBy(statuses, (status) => status)];
  return groups.length === 1
    ? (groups[0]?.[0] ?? "")
    : groups
        .map(([status, all]) => `${all.length} ${status}`)
        .toSorted()
        .join(", ");
}
