// A description of every node type, for the reference page of node types. Types, defaults and bounds come from the schemas. A key of a
// schema without a description here does not compile.

import type { Cause } from "../fault/cause.ts";
import type { RawNode } from "./schema.ts";
import { AGENT_DOCS } from "./node-docs-agent.ts";
import { FLOW_DOCS } from "./node-docs-flow.ts";
import { WORK_DOCS } from "./node-docs-work.ts";
import type { BuiltInType, NodeConfig } from "./node-types.ts";

/** The description of one node type. */
export interface NodeDoc<T extends BuiltInType> {
  readonly purpose: string;
  /** The meaning of each key of the config. */
  readonly config: Readonly<Record<keyof NodeConfig<T> & string, string>>;
  readonly inputs: string;
  readonly output: string;
  /** The handles. Absent if all its edges are without a handle. */
  readonly handles?: string;
  /** Events beyond those of every node: queued, started, retried and the end. */
  readonly events?: string;
  /** The causes of its failures. */
  readonly causes: readonly Cause[];
  /** A node of a definition in YAML, as an item of `nodes`. */
  readonly example: string;
}

export type NodeDocs = { readonly [K in BuiltInType]: NodeDoc<K> };

/** Descriptions of every built-in type, in reading order. */
export const NODE_DOCS: NodeDocs = { ...FLOW_DOCS, ...WORK_DOCS, ...AGENT_DOCS };

/** The keys that every node has. */
export const NODE_KEYS: Readonly<Record<keyof RawNode, string>> = {
  id: "Its name in the graph, in events and in `ctx.nodes`.",
  type: "One of the types below, or one of your own: a name with an optional version, such as `acme.charge@2`.",
  label: "For people; also the key under which `json_object` merges its output.",
  config:
    "The config of its type, see below. Texts in it are templates unless the type says otherwise.",
  input:
    "The input of the handler: any JSON, with templates. Parameters that edges bind are added as keys. Without it the input is these parameters, or the run's input if no edge leads to the node.",
  join: "How many parents it waits for: `all`, `any` or `{n_of_m: n}`. `all` by default.",
  late: "With a join of `any` or `n_of_m`, what happens to parents that are not done when it fires: `ignore` (the default) lets them run, `cancel` cancels those that no other node waits for.",
  retry:
    "`{attempts, backoff_ms, max_backoff_ms, retry_on, jitter}`, or `standard` (three attempts, 1 s and 2 s apart). One attempt by default. A policy that could never apply is refused: on a type that fails for good or not at all (`start`, `end`, `condition`, `delay`, `noop`, `approval`, `await_signal`, `map`, `loop`; unless moderation or an output contract can fail), without `attempts`, or with causes its type never has.",
  timeout_ms: "How long one attempt may take.",
  on_parent_failure:
    "What the node does if a parent failed. `substitute_default` also runs the node if its parent was skipped after a failure.",
  error_handling:
    "`continue` leaves by the handle `error`, `fail_node` fails the node, `fail_workflow` fails the run at once. The default is `continue` if an edge leaves by `error`, else `fail_node`.",
  output_variable: "Its output as `ctx.<name>` for every node after it.",
  write_key:
    "The key of the run's memory that gets the output when the node completes; of a model's answer, its text. The last write of a key wins unless the workflow's `memory` has a merge for it.",
  read_keys:
    "The keys of the run's memory that the node gets as `ctx.memory`: a list. All of them if absent, none if empty.",
  merge:
    "How several edges into one parameter become one value, if the edge does not name a strategy.",
  moderation: "Which side of the node moderation checks: input, output or both.",
  budget:
    "`{tokens, cost_usd, node_executions}`: how much all executions of the node may use in one run. An execution that does not fit any more fails with `budget_exceeded`. See [budgets](../guides/budgets.md).",
  reserve:
    "`{tokens, cost_usd}`: what one execution reserves of the budgets before it starts. An `llm` without it reserves its `max_tokens`, or 1,000 tokens.",
  moderation_action: "What a finding does: `block` fails the node, `hold` waits for a person.",
  contracts: "`{input, output}` as JSON Schema 2020-12; checked around every attempt.",
  compensation:
    "`{type, config, input, retry, timeout_ms}`: what undoes the node if the run fails, is cancelled or times out after the node completed. Its templates read `ctx.output`, the output of the node, and `ctx.input`, the input of the run. Without `input` its handler gets the output. `standard` retry by default. On a map or a loop it undoes each iteration. See [compensation](../guides/compensation.md).",
  concurrency:
    "`{key, limit, scope}`: at most `limit` executions hold a claim at once for each value of the key, a template; the rest wait, by priority and then in order. Without a key: of this node. `scope: tenant` shares the key with other workflows. On a map or a loop it limits the iterations.",
  rate: "`{key, limit, per_ms, scope}`: at most `limit` starts in any `per_ms` milliseconds for each value of the key.",
  taint:
    "Labels that its outputs get, beside the labels of the data that it reads: a list. See [Untrusted data](../guides/taint.md).",
  max_iterations:
    "How often the node may run in one run: loop edges, gotos and handoffs may make it run again. The run fails at the next time.",
  priority: "Added to the run's priority; lower is sooner.",
  position: "The position in an editor; Pawl ignores it.",
};
