// The types of a parsed definition, which all other rooms use. `parse.ts` makes them from JSON or YAML.

import type { MergeStrategy } from "../data/merge.ts";
import type { CauseSpellings } from "../fault/cause.ts";
import type { NodeId } from "../name/ids.ts";
import type { CompensatedEnd } from "../policy/compensation.ts";
import type { AskedBudget, SomeAmounts } from "../policy/budget.ts";
import type { ConcurrencyLimit, RateLimit } from "../policy/limit.ts";
import type { Moderation, ModerationAction } from "../policy/moderation.ts";
import type { ParentFailurePolicy } from "../data/parent-failure.ts";
import type { RetryPolicy } from "../policy/retry.ts";
import type { TaintRule } from "../policy/taint.ts";
import type { Receiver } from "../policy/webhook.ts";

/** When a node with several parents may run: all settled, any taken, or n taken. */
export type Join =
  | { readonly mode: "all" }
  | { readonly mode: "any" }
  | { readonly mode: "n_of_m"; readonly n: number };

/**
 * What a failure of the node does. `continue`: the node completes on handle `error` with the error as output. `fail_workflow`: the run
 * fails at once. `fail_node`: the node fails, and its children decide by their own policy. The default is `continue` if an edge leaves
 * by `error`, else `fail_node`.
 */
type ErrorHandling = "continue" | "fail_workflow" | "fail_node";

/** A schema of JSON Schema 2020-12. */
export type JsonSchema = boolean | Readonly<Record<string, unknown>>;

/** The schemas of a node's input and output; part of the definition's version and never changed. */
export interface NodeContracts {
  readonly input: JsonSchema | null;
  readonly output: JsonSchema | null;
}

/** The parts of the context that a body reads: its iterations get nothing else. */
export interface ContextReads {
  readonly input: boolean;
  /** The node's own parameters, which come from its parents. */
  readonly params: boolean;
  readonly nodes: ReadonlySet<string> | "all";
  readonly vars: ReadonlySet<string> | "all";
  readonly memory: MemoryReads;
}

/** The keys of the run's memory that a node or a body reads. */
export type MemoryReads = ReadonlySet<string> | "all";

/** What a map or a loop does for each item, and what a turn or a tool of an agent does. */
export interface BodyDefinition {
  readonly type: string;
  readonly config: Readonly<Record<string, unknown>>;
  /** The input of the handler, with templates; absent if the author wrote none. */
  readonly input?: unknown;
  readonly retry: RetryPolicy;
  readonly timeoutMs: number;
  readonly errorHandling: ErrorHandling;
  readonly reads: ContextReads;
}

/** A tool of an agent: each call of it is an execution of its own. */
interface ToolDefinition {
  /** The name by which the model calls it. */
  readonly name: string;
  readonly body: BodyDefinition;
  /** `return`: the model gets the error as the result of its call. `fail`: the agent fails. */
  readonly onError: "return" | "fail";
}

/** Only for an agent: its body is a turn, which asks the model once. */
export interface AgentDefinition {
  readonly maxTurns: number;
  readonly tools: readonly ToolDefinition[];
}

/** What undoes an execution that completed. The node of a map or a loop has it for each of its iterations. */
interface CompensationDefinition {
  readonly type: string;
  readonly config: Readonly<Record<string, unknown>>;
  /** The input of the handler, with templates over `ctx.output` and `ctx.input`. */
  readonly input: unknown;
  readonly retry: RetryPolicy;
  readonly timeoutMs: number;
}

export interface ScopeDefinition {
  readonly body: BodyDefinition;
  /** Iterations that run at once. */
  readonly parallelism: number;
  /** `continue`: an iteration that fails gives null, and the others continue. */
  readonly onItemFailure: "fail" | "continue";
  /** CEL over an iteration and its output: true ends the loop. */
  readonly until: string | null;
  /** Whether an iteration sees the output of the iteration before. */
  readonly hasPrevious: boolean;
  readonly agent?: AgentDefinition;
}

export interface NodeDefinition {
  readonly id: NodeId;
  readonly type: string;
  readonly label: string | null;
  readonly ordinal: number;
  /** The handler's own config. The executor's registry checks it; for built-in types, so does the parser. */
  readonly config: Readonly<Record<string, unknown>>;
  /** The input of the handler, with templates; absent if the author wrote none. */
  readonly input?: unknown;
  readonly join: Join;
  /** What happens to parents that are not done when the join fires. */
  readonly late: "ignore" | "cancel";
  readonly retry: RetryPolicy;
  readonly timeoutMs: number;
  readonly onParentFailure: ParentFailurePolicy;
  readonly errorHandling: ErrorHandling;
  /** Old spellings of causes that conditions and scripts of this definition compare with; absent if there are none. */
  readonly causeSpellings?: CauseSpellings;
  /** The name by which templates of all later nodes read the output. */
  readonly outputVariable: string | null;
  /** The key of the run's memory that gets the output when the node completes; of a model's answer, its text. */
  readonly writeKey: string | null;
  /** The keys of the run's memory that the node gets: those that its author lists or, without a list, those that it may read. */
  readonly readKeys: MemoryReads;
  readonly merge: MergeStrategy | null;
  readonly contracts: NodeContracts;
  /** Only for a map, a loop or an agent. */
  readonly scope: ScopeDefinition | null;
  readonly moderation: Moderation;
  readonly moderationAction: ModerationAction;
  /** How many executions may hold a claim at once; for a map or a loop, how many of its iterations. */
  readonly concurrency: ConcurrencyLimit | null;
  readonly rate: RateLimit | null;
  /** Added to the run's priority; lower is sooner. */
  readonly priority: number;
  /** How often the node may run in one run; absent if the author set no bound. */
  readonly maxIterations?: number;
  /** Labels that its outputs get beside those of the data that it reads; absent if the author named none. */
  readonly taint?: readonly string[];
  /** Absent if nothing undoes the node. */
  readonly compensation?: CompensationDefinition;
  /** How much all executions of the node in one run may use; absent if the author set no limit. */
  readonly budget?: SomeAmounts;
  /** What one execution reserves of the budgets; absent if the author wrote none. */
  readonly reserve?: SomeAmounts;
}

export interface EdgeDefinition {
  readonly id: string;
  readonly source: NodeId;
  readonly target: NodeId;
  /** The edge is taken only if the source left by this handle; null is taken unless the source left by `error`. */
  readonly sourceHandle: string | null;
  readonly sourceOutputKey: string;
  readonly targetParamLabel: string | null;
  readonly mergeStrategy: MergeStrategy | null;
  /** Present on an edge that leads back; see `GraphNode.loops`. */
  readonly loop?: true;
  /** How often a loop edge may be taken before its target is reached another way; absent if the author set no bound. */
  readonly maxIterations?: number;
}

export interface Definition {
  /** The author's id for the workflow, if the text names one. */
  readonly id: string | null;
  readonly title: string;
  readonly nodes: readonly NodeDefinition[];
  readonly edges: readonly EdgeDefinition[];
  readonly deadlineMs: number;
  /** How often a run may repeat: loop edges, gotos and handoffs together. */
  readonly maxIterations: number;
  /** How often an execution may be retried at most, whatever its policy; undefined if only the policy counts. */
  readonly maxRetries: number | undefined;
  /** What a run is for; empty if the author says nothing. */
  readonly goal: string;
  /** The rules that the nodes of a run respect. */
  readonly constraints: readonly string[];
  /** How much a run may use; absent if the author set no limit. */
  readonly budget?: AskedBudget;
  /** How much all runs may use in a day; absent if the author set no limit. */
  readonly dailyBudget?: SomeAmounts;
  /** How many runs may be live at once, and how many may start in a window. */
  readonly concurrency: ConcurrencyLimit | null;
  readonly rate: RateLimit | null;
  /** The ends that undo completed nodes first, and how long that may take. */
  readonly compensateOn: ReadonlySet<CompensatedEnd>;
  readonly compensationTimeoutMs: number;
  /** The schema that the input of a run fits; null if any input may start one. */
  readonly inputSchema: JsonSchema | null;
  /** How several writes of one key of the memory become one value; the last write wins for a key that is not here. */
  readonly memory: ReadonlyMap<string, MergeStrategy>;
  /** Whether every input of a run has the label `input`. */
  readonly hasUntrustedInput: boolean;
  /** Which executions may not read labelled data. */
  readonly policies: readonly TaintRule[];
  /** The receivers of events of every run. */
  readonly webhooks: readonly Receiver[];
}

/** A place in a text. From 1, as editors count. */
export interface Position {
  readonly line: number;
  readonly column: number;
}

/** One broken rule, or one warning: where, which, and what to do. */
export interface Violation {
  readonly path: string;
  readonly reason: string;
  readonly message: string;
  readonly nodeId: string;
  /** The position in the text, if there is a text. */
  readonly position?: Position;
}
