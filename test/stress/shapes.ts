// The shapes of the stress: twelve topologies, and graphs that repeat, nest, break, undo, run short or wait for a person. In each, every
// other plain node is a task of the peers, which repeat and reorder their outcomes. Real executors do the rest.
import { names, script, type NodeText } from "../flow/graph.ts";
import type { Acts } from "./expectation.ts";
import {
  always,
  failing,
  FAILS,
  linked,
  mixed,
  never,
  PHRASE,
  type Shape,
  TASK,
  task,
} from "./shape.ts";
import { ON_THREADS } from "./thread-shapes.ts";
import { STATEFUL } from "./stateful-shapes.ts";

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

/** All shapes, in the order of the report. */
export const SHAPES: readonly Shape[] = [...TOPOLOGIES, ...FURTHER, ...STATEFUL, ...ON_THREADS];
