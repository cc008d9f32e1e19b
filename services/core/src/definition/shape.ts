// What a definition is, once parsed: the types every other room works on. `parse.ts` makes them from JSON or YAML.

import type { NodeId } from "../name/ids.ts";

export const MERGE_STRATEGIES = ["last_write_wins", "concat", "array", "json_object"] as const;
/** How several values for one parameter become one (S1.33-S1.37). */
export type MergeStrategy = (typeof MERGE_STRATEGIES)[number];

export const RETRY_CAUSES = [
  "timeout",
  "provider_error",
  "rate_limit",
  "contract_violated",
] as const;
/** Causes a retry policy may name (S1.29). */
export type RetryCause = (typeof RETRY_CAUSES)[number];

/** Attempts in all and the backoff between them (S1.26-S1.30). */
export interface RetryPolicy {
  readonly attempts: number;
  readonly backoffMs: number;
  readonly maxBackoffMs: number;
  readonly retryOn: readonly RetryCause[];
}

/** When a node with several parents may run: all settled, any taken, or n taken (X11). */
export type Join =
  | { readonly mode: "all" }
  | { readonly mode: "any" }
  | { readonly mode: "n_of_m"; readonly n: number };

/** What a node does when a parent failed or was cancelled (S1.23-S1.25). Default: propagate. */
export type ParentFailurePolicy = "skip" | "propagate" | "substitute_default";

/**
 * What a failure of the node itself does. `continue`: the node completes on handle `error` with the error as output.
 * `fail_workflow`: the run fails at once. `fail_node` (the default when no edge leaves by `error`; `continue` is the default
 * when one does): the node fails and its children decide by their own policy.
 */
export type ErrorHandling = "continue" | "fail_workflow" | "fail_node";

export interface NodeDefinition {
  readonly id: NodeId;
  readonly type: string;
  readonly label: string | null;
  readonly ordinal: number;
  /** The handler's own; checked by its schema in the executor's registry and, for built-in types, at parse. */
  readonly config: Readonly<Record<string, unknown>>;
  readonly join: Join;
  readonly retry: RetryPolicy;
  readonly timeoutMs: number;
  readonly onParentFailure: ParentFailurePolicy;
  readonly errorHandling: ErrorHandling;
  /** Name under which the output is visible to templates everywhere downstream. */
  readonly outputVariable: string | null;
  readonly merge: MergeStrategy | null;
}

export interface EdgeDefinition {
  readonly id: string;
  readonly source: NodeId;
  readonly target: NodeId;
  /** Only followed when the source left by this handle; null is followed unless the source left by `error`. */
  readonly sourceHandle: string | null;
  readonly sourceOutputKey: string;
  readonly targetParamLabel: string | null;
  readonly mergeStrategy: MergeStrategy | null;
}

export interface Definition {
  /** The author's id for the workflow, if the text names one. */
  readonly id: string | null;
  readonly title: string;
  readonly nodes: readonly NodeDefinition[];
  readonly edges: readonly EdgeDefinition[];
  readonly deadlineMs: number;
}

/** One broken rule: where, which, and what to do. */
export interface Violation {
  readonly path: string;
  readonly reason: string;
  readonly message: string;
  readonly nodeId: string;
}
