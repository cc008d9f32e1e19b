// The shapes of the stress: twelve topologies, and graphs that repeat, nest, break, undo, run short or wait for a person. In each, every other plain node is
// a task of the peers, which repeat and reorder their outcomes. Real executors do the rest.
import { graph, names, script, type GraphText, type NodeText } from "../flow/graph.ts";
import type { Act, Acts } from "./expectation.ts";

/** The node type that only the peers serve. Its config says how it ends: {fail} or {fail_item}. */
export const TASK = "stress-task";
/** What the rules of moderation flag. */
export const PHRASE = "forbidden fruit";

/** A graph, with a budget if its runs have one. */
type Definition = GraphText & { readonly budget?: { readonly node_executions: number } };

/** One shape. */
export type Shape = {
  readonly name: string;
  readonly definition: Definition;
  /** Runs at once instead of the number asked for, if that is more. */
  readonly atLeast?: number;
  /** What the nodes of the run with this number do. */
  readonly acts: (run: number) => Acts;
  /** The person's decision about the node `held` of this run. */
  readonly decision?: (run: number) => "approve" | "reject";
  /** Saved before any run, by workflow id. */
  readonly children?: Readonly<Record<string, GraphText>>;
};

const FAILS: Act = { kind: "fails" };
const failing: NodeText = { type: TASK, config: { fail: true } };
const task: NodeText = { type: TASK };
const never = (): Acts => ({});
const always = (acts: Acts) => (): Acts => acts;

/** Nodes without a type are tasks and noops by turns, so runs alternate between executors and the scheduler. */
function mixed(paths: readonly string[], nodes: Readonly<Record<string, NodeText>> = {}) {
  const { nodes: all, edges } = graph(paths, nodes);
  let count = 0;
  return {
    nodes: all.map((node) => {
      const { id } = node;
      if (typeof id !== "string" || id === "start" || id === "end") return node;
      if (nodes[id]?.type !== undefined) return node;
      const { config: _config, ...rest } = node;
      return { ...rest, type: count++ % 2 === 0 ? TASK : "noop" };
    }),
    edges,
  };
}

const linked = (workflowId: string): NodeText => ({
  type: "subworkflow",
  config: { workflow_id: workflowId },
});

const WIDE = names("m", 8);
const LAYERS = names("layer", 4).map((layer) => names(`${layer}-`, 3));

const TOPOLOGIES: readonly Shape[] = [
  {
    name: "linear",
    definition: mixed(["start > a > b > c > end"]),
    atLeast: 100,
    acts: never,
  },
  { name: "fan-out", definition: mixed(WIDE.map((id) => `start > ${id}`)), acts: never },
  { name: "fan-in", definition: mixed(WIDE.map((id) => `start > ${id} > join`)), acts: never },
  {
    name: "diamond AND",
    definition: mixed(["start > a > join > end", "start > b > join"], { a: task, b: task }),
    atLeast: 50,
    acts: never,
  },
  {
    name: "diamond OR",
    definition: mixed(["start > a > join > end", "start > b > join"], { join: { join: "any" } }),
    acts: never,
  },
  {
    name: "deep chain",
    definition: mixed([["start", ...names("n", 39)].join(" > ")]),
    acts: never,
  },
  {
    name: "error path",
    definition: mixed(["start > work > happy > end", "work:error > rescue > end"], {
      work: failing,
    }),
    acts: always({ work: FAILS }),
  },
  {
    name: "conditional",
    definition: mixed(["start > check", "check:odd > a > b", "check:else > c"], {
      check: oddOrElse(),
    }),
    acts: oddly,
  },
  {
    name: "conditional join",
    definition: mixed(["start > check", "check:odd > a > join > end", "check:else > b > join"], {
      check: oddOrElse(),
    }),
    acts: oddly,
  },
  {
    name: "delay",
    definition: mixed(["start > pause > after"], {
      pause: { type: "delay", config: { delay_ms: 200 } },
    }),
    acts: never,
  },
  {
    name: "multi-level join",
    definition: mixed([
      "start > a > left > top > end",
      "start > b > left",
      "start > c > right > top",
      "start > d > right",
    ]),
    acts: never,
  },
  {
    name: "lattice",
    // Every node of a layer joins the whole layer above.
    definition: mixed(
      LAYERS.flatMap((layer, depth) =>
        layer.flatMap((id) => (LAYERS[depth - 1] ?? ["start"]).map((above) => `${above} > ${id}`)),
      ),
    ),
    acts: never,
  },
];

function oddOrElse(): NodeText {
  return {
    type: "condition",
    config: { branches: [{ id: "odd", when: "ctx.input.run % 2 == 1" }] },
  };
}
function oddly(run: number): Acts {
  return { check: { kind: "completes", handle: run % 2 === 1 ? "odd" : "else" } };
}

const ITEMS = Array.from({ length: 12 }, (_, index) => index);
const mapNode = (more: object = {}, config: object = {}): NodeText => ({
  type: "map",
  config: { items: ITEMS, parallelism: 4, body: { type: TASK, config: { ...config } }, ...more },
});

const FURTHER: readonly Shape[] = [
  {
    name: "map",
    definition: mixed(["start > each:loop > after", "each:done > never"], { each: mapNode() }),
    acts: always({ each: { kind: "completes", handle: "loop", iterations: ITEMS.length } }),
  },
  {
    name: "map with bad items",
    definition: mixed(["start > each > after"], {
      each: mapNode({ on_item_failure: "continue" }, { fail_item: 3 }),
    }),
    acts: always({ each: { kind: "repeats", iterations: ITEMS.length, failing: [4] } }),
  },
  {
    name: "loop",
    definition: mixed(["start > again > after"], {
      again: { type: "loop", config: { times: 5, body: { type: TASK } } },
    }),
    acts: always({ again: { kind: "completes", handle: "loop", iterations: 5 } }),
  },
  {
    name: "n-of-m",
    definition: mixed(
      names("m", 5).map((id) => `start > ${id} > join`),
      { m5: failing, join: { join: { n_of_m: 3 } } },
    ),
    acts: always({ m5: FAILS }),
  },
  {
    name: "nested subworkflow",
    definition: mixed(["start > nested > end", "start > doomed:error > rescue > end"], {
      nested: linked("stress-middle"),
      doomed: linked("stress-failing"),
    }),
    children: {
      "stress-inner": mixed(["start > a > join", "start > b > join"]),
      "stress-middle": mixed(["start > inner > after"], { inner: linked("stress-inner") }),
      "stress-failing": mixed(["start > bad > never"], { bad: failing }),
    },
    acts: always({ doomed: FAILS }),
  },
  {
    name: "error in parallel",
    definition: mixed(
      ["start > bad > join", "start > b > join", "start > c > join", "bad > skips", "bad > goes"],
      {
        bad: failing,
        skips: { on_parent_failure: "skip" },
        goes: { on_parent_failure: "substitute_default" },
      },
    ),
    acts: always({ bad: FAILS }),
  },
  {
    name: "moderation hold",
    definition: mixed(["start > held > end", "start > beside > end"], {
      held: script(`return "a ${PHRASE}"`, { moderation: "output", moderation_action: "hold" }),
    }),
    decision: (run) => (run % 2 === 0 ? "approve" : "reject"),
    acts: (run): Acts => (run % 2 === 0 ? {} : { held: FAILS }),
  },
];

const ROUNDS = 4;
const undo: NodeText = { type: TASK, compensation: { type: TASK } };
const again = { source: "judge", target: "count", source_handle: "again", loop: true };
const looping = mixed(["start > count > work > judge", "judge:else > end"], {
  count: script("return { n: (ctx.count?.n ?? 0) + 1 }", { output_variable: "count" }),
  work: task,
  judge: {
    type: "condition",
    config: { branches: [{ id: "again", when: `ctx.count.n < ${ROUNDS}` }] },
  },
});
const back = { source: "work", target: "lead", loop: true };
const supervised = mixed(["start > lead", "lead:more > work", "lead:max_iterations > end"], {
  lead: {
    type: "supervisor",
    config: { routes: [{ id: "more", when: "true" }], max_iterations: ROUNDS - 1 },
  },
  work: task,
});
const round = (handle?: string): Act => ({
  ...{ kind: "completes", rounds: ROUNDS },
  ...(handle === undefined ? {} : { handle }),
});

/** Runs that repeat, that undo their nodes, and that need more than their budget. */
const STATEFUL: readonly Shape[] = [
  {
    name: "loop edge",
    definition: { ...looping, edges: [...looping.edges, again] },
    acts: always({ count: round(), work: round(), judge: round("else") }),
  },
  {
    name: "supervisor",
    definition: { ...supervised, edges: [...supervised.edges, back] },
    // Each round decides the nodes of both routes. In the last one the task is skipped, and in the others the end.
    acts: always({ lead: round("max_iterations"), work: round(), end: round() }),
  },
  {
    name: "compensation",
    // Every node that can be undone has completed before one fails.
    definition: mixed(
      [...names("u", 3).map((id) => `start > ${id} > join`), "join > last > bad > never"],
      {
        ...Object.fromEntries([...names("u", 3), "last"].map((id) => [id, undo])),
        bad: failing,
      },
    ),
    acts: always({ bad: FAILS }),
  },
  {
    name: "short budget",
    definition: {
      ...mixed(
        WIDE.map((id) => `start > ${id}`),
        Object.fromEntries(WIDE.map((id) => [id, task])),
      ),
      budget: { node_executions: 3 },
    },
    acts: never,
  },
];

/** All shapes, in the order of the report. */
export const SHAPES: readonly Shape[] = [...TOPOLOGIES, ...FURTHER, ...STATEFUL];
