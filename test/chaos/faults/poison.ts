// F14: nodes that loop, bloat, abort, hang and throw nonsense, among good ones. They fail, and no other node is affected.
import { broken, graph, script, type NodeText } from "../../flow/graph.ts";
import type { Act } from "../../stress/expectation.ts";
import type { Shape } from "../../stress/shape.ts";
import type { Fault } from "../fault.ts";

const FAILS: Act = { kind: "fails" };
const SHORT = { timeout_ms: 1_500 };

const POISONS: Readonly<Record<string, NodeText>> = {
  loops: script("for (;;) {}", SHORT),
  hangs: script("await new Promise(() => {})", SHORT),
  bloats: script("new Array(1e9).fill(0)", SHORT),
  hoards: script("const all = []; for (;;) all.push(new Array(1e5).fill(7))", SHORT),
  "throws nothing": script("throw undefined"),
  "says too much": script('return "x".repeat(64 * 1024 * 1024)'),
  "nests too deep": script("let v = {}; for (let i = 0; i < 1e5; i++) v = { v }; return v"),
  throws: broken(),
};

/** A poisoned branch beside a good one, which must be done. */
const SHAPES: readonly Shape[] = [
  ...Object.entries(POISONS).map(([name, node]) => ({
    name,
    definition: graph(["start > bad > never", "start > good > better"], { bad: node }),
    acts: () => ({ bad: FAILS }),
  })),
  ...["one", "two", "three", "four"].map((name) => ({
    name: `good ${name}`,
    definition: graph(["start > a > join > end", "start > b > join"], {
      a: script("return 1"),
      b: script("return 2"),
    }),
    acts: () => ({}),
  })),
];

const STRUCK = `
select count(*)::integer as count from pawl.run_events where node_id = 'bad' and type in ('node.failed', 'node.timed_out')`;

/** Makes the fault. */
export function poisonNodes(): Fault {
  let before = 0;
  let pids: readonly number[] = [];
  return {
    id: "F14",
    title: "poison nodes among good ones",
    hits: { short: 1, smoke: 4, full: 40 },
    gapMs: [1_000, 2_000],
    shapes: { prefix: "poison", all: SHAPES },
    begin: async ({ cluster }) => {
      pids = cluster.executors.map(({ pid }) => pid);
      before = 0;
    },
    strike: async ({ db }) => {
      const at = Date.now();
      const { rows } = await (await db()).query<{ count: number }>(STRUCK);
      const count = (rows[0]?.count ?? 0) - before;
      before += count;
      const detail = `${count} poisoned nodes`;
      return { target: "executors", detail, isObserved: count > 0, at, overAt: at };
    },
    end: async ({ cluster }) => {
      if (cluster.executors.some(({ pid }, index) => pid !== pids[index] || !isAlive(pid)))
        throw new Error("a poisoned node ended an executor");
      return 0;
    },
  };
}

function isAlive(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch {
    return false;
  }
}
