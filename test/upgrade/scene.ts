// A scene: one run of the dump, and the functions with which scenes are written.

import type { Json, StartRunOptions } from "@pawl/client";
import { graph, type GraphText, type NodeText } from "../flow/graph.ts";

/** A node type that only peers of the worker protocol serve. Its config says when the peer of the old build holds or fails it. */
export const TASK = "upgrade.task";
/** A node type that no executor of the old build serves. */
export const UNSERVED = "upgrade.unserved";
/** A node type whose queue is paused. */
export const PAUSED = "upgrade.paused";
/** A node type whose executors vanish in the old build. */
export const POISON = "upgrade.poison";
/** A node type whose executors describe it. */
export const TYPED = "upgrade.typed";
export const TYPED_DESCRIPTOR = {
  type: TYPED,
  description: "Holds its task",
  configSchema: JSON.stringify({
    type: "object",
    properties: { hold_from: { type: "integer" } },
    required: ["hold_from"],
  }),
};
/** What the peer of either build gives for a task. */
export const BY_OLD = { by: "old" };
export const BY_NEW = { by: "new" };
/** What the rules of moderation flag. */
export const PHRASE = "forbidden fruit";
export const MODERATION_RULES = JSON.stringify({
  rules: [{ id: "fruit", category: "food", literal: PHRASE }],
});
/** Longer than a dump takes to make, and shorter than the services are away after that. */
export const LONG_MS = 300_000;

type Status = {
  readonly status: string;
  /** Of nodes of interest; "each#2" is an iteration. */
  readonly nodes?: Readonly<Record<string, string>>;
};

/** One run. */
export type Scene = {
  readonly name: string;
  readonly definition: GraphText & { readonly budget?: Json };
  readonly options?: StartRunOptions;
  /** Where it is when the services are killed. */
  readonly left: Status & {
    /** What its log must hold, where the status alone does not tell. */
    readonly event?: string;
  };
  readonly ends: Status & { readonly output?: Json };
  /** The workflow, where several runs share one. */
  readonly workflowId?: string;
};

export const workflowOf = ({ name, workflowId = name }: Scene): string => workflowId;

/** A task that is held from an iteration on, fails at its first attempt, or is held once its effect is recorded. */
export const task = (
  fate: { readonly hold_from?: number; readonly fail_first?: boolean; readonly effect?: boolean },
  more: NodeText = {},
): NodeText => ({ type: TASK, config: fate, ...more });
export const HELD = task({ hold_from: 0 });

/** A run whose output is that of its node `work`. */
export const working = (
  work: NodeText,
  paths: readonly string[] = ["start > work > end"],
  more: Readonly<Record<string, NodeText>> = {},
): GraphText =>
  graph(paths, {
    ...more,
    work,
    end: { config: { output_parameters: { result: "{{ ctx.nodes.work }}" } } },
  });
export const completed = (result: Json) => ({ status: "completed", output: { result } });
export const running = (nodes: Readonly<Record<string, string>>) => ({ status: "running", nodes });

/** Always leaves by `yes`. */
export const check: NodeText = {
  type: "condition",
  config: { branches: [{ id: "yes", when: "has(ctx.input.scene)" }] },
};
