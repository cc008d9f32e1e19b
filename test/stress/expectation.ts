// How a run must end, from its definition and the acts of its nodes alone. Written from the rules of the definition and not from the
// planner: no log, no counters, no order of arrival, one look at every node's parents.
import { z } from "zod";
import type { GraphText } from "../flow/graph.ts";

/** What a node does once it runs; a node that is not named completes and leaves by no handle. */
export type Act =
  | {
      readonly kind: "completes";
      /** The handle of the last round. */
      readonly handle?: string;
      readonly iterations?: number;
      /** How often the node runs, because a loop edge or a goto leads back to it. */
      readonly rounds?: number;
      /** The node that the goto of its last round names. None of its edges is taken. */
      readonly leadsTo?: string;
    }
  /** A map that continues after these iterations failed. */
  | { readonly kind: "repeats"; readonly iterations: number; readonly failing: readonly number[] }
  | { readonly kind: "fails" };

/** By node id. */
export type Acts = Readonly<Record<string, Act>>;

/** How a run must end. */
export type Expectation = {
  readonly status: "completed" | "failed" | "cancelled";
  readonly hasFailures: boolean;
  /** Every node execution; an iteration is named "map#2", and so is the last round of a node that ran again. */
  readonly nodes: Readonly<Record<string, string>>;
  /** How often the run repeats. */
  readonly repeats: number;
  /** How many executions are undone. */
  readonly undone: number;
  /** Set if the budget covers only so many executions. Which of them run depends on the order of claims, so `nodes` is empty. */
  readonly covered?: number;
  /** Set if a later run of its thread stopped it. What it had done by then depends on the moment, so `nodes` is empty. */
  readonly isStopped?: boolean;
  /** The node executions of a budget that pauses the run, before any top-up. */
  readonly budget?: number;
};

const shape = z.object({
  nodes: z.array(
    z.object({
      id: z.string(),
      join: z.union([z.string(), z.object({ n_of_m: z.number() })]).default("all"),
      on_parent_failure: z.string().default("propagate"),
      compensation: z.unknown().optional(),
    }),
  ),
  edges: z.array(
    z.object({
      source: z.string(),
      target: z.string(),
      source_handle: z.string().optional(),
      loop: z.boolean().default(false),
    }),
  ),
  budget: z.object({ node_executions: z.number(), on_exceeded: z.string().optional() }).optional(),
});
type Node = z.output<typeof shape>["nodes"][number];

type End = { readonly status: string; readonly handle?: string; readonly hasFailed: boolean };

const SKIPPED: End = { status: "skipped", hasFailed: false };
const FAILED: End = { status: "failed", hasFailed: true };

/** Computes it. */
export function expectationOf(definition: GraphText, acts: Acts): Expectation {
  const { nodes, edges: all, budget } = shape.parse(definition);
  if (budget !== undefined && budget.on_exceeded !== "pause")
    return shortOf(budget.node_executions);
  const edges = all.filter(({ loop }) => !loop);
  const known = new Map<string, End>();
  const endOf = (id: string): End => {
    const node = nodes.find((each) => each.id === id);
    if (node === undefined) throw new Error(`no node ${id}`);
    const end = known.get(id) ?? judge(node);
    known.set(id, end);
    return end;
  };
  const ran = ({ id }: Node): End => {
    const act = acts[id] ?? { kind: "completes" };
    if (act.kind === "repeats")
      return { status: "completed", handle: "loop", hasFailed: act.failing.length > 0 };
    if (act.kind === "completes")
      return { status: "completed", handle: act.handle ?? "", hasFailed: false };
    const isCaught = edges.some((edge) => edge.source === id && edge.source_handle === "error");
    return isCaught ? { status: "completed", handle: "error", hasFailed: true } : FAILED;
  };
  const judge = (node: Node): End => {
    const incoming = edges.filter((edge) => edge.target === node.id);
    const isNamed = Object.values(acts).some((act) => leadOf(act) === node.id);
    if (incoming.length === 0 || isNamed) return ran(node);
    const taken = incoming.filter(({ source, source_handle: handle }) => {
      const parent = endOf(source);
      if (parent.status !== "completed" || leadOf(acts[source]) !== undefined) return false;
      return handle === undefined ? parent.handle !== "error" : parent.handle === handle;
    });
    const isBroken = incoming.some(({ source }) => endOf(source).status === "failed");
    const needed = neededOf(node);
    if (needed !== undefined && taken.length >= needed) return ran(node);
    if (isBroken) {
      if (node.on_parent_failure === "skip") return SKIPPED;
      return node.on_parent_failure === "propagate" ? FAILED : ran(node);
    }
    return needed === undefined && taken.length > 0 ? ran(node) : SKIPPED;
  };
  const ends = new Map(nodes.map(({ id }) => [id, endOf(id)]));
  const leaves = nodes.filter(({ id }) => edges.every((edge) => edge.source !== id));
  const isWell = leaves.every(({ id }) => ends.get(id)?.status !== "failed");
  const undone = nodes.filter(
    ({ id, compensation }) => compensation !== undefined && isDone(ends.get(id)),
  );
  return {
    status: isWell ? "completed" : "failed",
    hasFailures: [...ends.values()].some(({ hasFailed }) => hasFailed),
    nodes: Object.fromEntries(
      [...ends].flatMap(([id, { status }]) => [
        [lastRoundOf(id, acts[id]), status],
        ...iterationsOf(id, acts[id]),
      ]),
    ),
    repeats: repeatsOf(Object.values(acts)),
    undone: isWell ? 0 : undone.length,
    ...(budget === undefined ? {} : { budget: budget.node_executions }),
  };
}

/** A run whose budget does not cover its nodes. */
const shortOf = (covered: number): Expectation => ({
  ...{ status: "failed", hasFailures: true, nodes: {}, repeats: 0, undone: 0, covered },
});

/** A run that a later run of its thread stopped. */
export const STOPPED: Expectation = {
  ...{ status: "cancelled", hasFailures: false, nodes: {}, repeats: 0, undone: 0, isStopped: true },
};

/** Only such an execution is undone. */
const isDone = (end: End | undefined): boolean =>
  end?.status === "completed" && end.handle !== "error";

const roundsOf = (act: Act | undefined): number =>
  act?.kind === "completes" ? (act.rounds ?? 1) : 1;

const leadOf = (act: Act | undefined): string | undefined =>
  act?.kind === "completes" ? act.leadsTo : undefined;

/** A goto forward counts as one more. */
const repeatsOf = (acts: readonly Act[]): number =>
  Math.max(...acts.map(roundsOf), 1) - 1 + acts.filter((act) => leadOf(act) !== undefined).length;

const lastRoundOf = (id: string, act: Act | undefined): string =>
  roundsOf(act) === 1 ? id : `${id}#${roundsOf(act) - 1}`;

/** How many ways in are enough; undefined for a join that waits for all of its parents. */
function neededOf({ join }: Node): number | undefined {
  if (typeof join !== "string") return join.n_of_m;
  return join === "any" ? 1 : undefined;
}

function iterationsOf(id: string, act: Act | undefined): [string, string][] {
  if (act === undefined || act.kind === "fails") return [];
  const failing = act.kind === "repeats" ? act.failing : [];
  return Array.from({ length: act.iterations ?? 0 }, (_, index) => [
    `${id}#${index + 1}`,
    failing.includes(index + 1) ? "failed" : "completed",
  ]);
}
