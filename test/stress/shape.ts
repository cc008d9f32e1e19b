// A shape of the stress: a graph, and what its runs do. This file has the parts that all shapes share.
import type { Json, Multitask } from "@pawl/client";
import { graph, type GraphText, type NodeText } from "../flow/graph.ts";
import type { Act, Acts } from "./expectation.ts";

/** The node type that only the peers serve. Its config says how it ends: {fail}, {fail_item} or {jump}. */
export const TASK = "stress-task";
/** What a task returns. */
export const SAID = { message: "said first" };

/** A task that leads back to a node several times, and then forward. Each goto begins another iteration of it. */
type Jump = { readonly back: string; readonly times: number; readonly ahead: string };

/** Where this iteration of the task leads. */
export const targetOf = ({ back, times, ahead }: Jump, iteration: number): string =>
  iteration < times ? back : ahead;

/** What the rules of moderation flag. */
export const PHRASE = "forbidden fruit";

/** A graph, with a budget if its runs have one. */
type Definition = GraphText & {
  readonly budget?: { readonly node_executions: number; readonly on_exceeded?: "pause" };
};

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
  /** The node executions that a person adds each time a run pauses for its budget. */
  readonly topUp?: number;
  /** The output of every run. */
  readonly output?: Json;
  /** The iterations of the node `agent` that are calls of a task. */
  readonly calls?: readonly number[];
  /** Whether its tasks are effects on the outside world. */
  readonly hasEffects?: boolean;
  /** Its runs share a thread; each has this strategy. */
  readonly multitask?: (run: number) => Multitask;
  /** How many times as often as others it comes in the chaos; once if not set. */
  readonly weight?: number;
  /** Saved before any run, by workflow id. */
  readonly children?: Readonly<Record<string, GraphText>>;
};

export const FAILS: Act = { kind: "fails" };
export const failing: NodeText = { type: TASK, config: { fail: true } };
export const task: NodeText = { type: TASK };
/** A task that can be undone. */
export const undo: NodeText = { type: TASK, compensation: { type: TASK } };
export const never = (): Acts => ({});
export const always = (acts: Acts) => (): Acts => acts;

/** Nodes without a type are tasks and noops by turns, so runs alternate between executors and the scheduler. */
export function mixed(paths: readonly string[], nodes: Readonly<Record<string, NodeText>> = {}) {
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

export const linked = (workflowId: string): NodeText => ({
  type: "subworkflow",
  config: { workflow_id: workflowId },
});
