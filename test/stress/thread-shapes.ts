// Shapes whose runs share a thread: each adds its number to the memory of the thread, and then works.
import type { Multitask } from "@pawl/client";
import { script } from "../flow/graph.ts";
import { mixed, never, type Shape, undo } from "./shape.ts";

const turn = mixed(["start > say > work > end"], {
  say: script("return [...(ctx.memory.said ?? []), ctx.input.run]", {
    write_key: "said",
    read_keys: ["said"],
  }),
  work: undo,
});

const STRATEGIES: readonly Multitask[] = ["enqueue", "interrupt", "enqueue", "rollback", "reject"];

export const ON_THREADS: readonly Shape[] = [
  {
    name: "thread in line",
    definition: turn,
    multitask: () => "enqueue",
    weight: 3,
    acts: never,
  },
  {
    name: "thread with stops",
    definition: turn,
    multitask: (run) => STRATEGIES[run % STRATEGIES.length] ?? "enqueue",
    weight: 4,
    acts: never,
  },
];
