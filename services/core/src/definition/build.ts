// A raw definition that broke no rule becomes the Definition every other room works on: camelCase, defaults filled in.

import { invariant } from "../fault/invariant.ts";
import { nodeId } from "../name/ids.ts";
import { DEFAULT_RETRY } from "../policy/retry.ts";
import { joinOf } from "./graph-rules.ts";
import type { RawDefinition, RawNode } from "./schema.ts";
import type { Definition, EdgeDefinition, NodeDefinition, RetryPolicy } from "./shape.ts";

/** Builds the definition; `raw` has passed every rule. */
export function buildDefinition(raw: RawDefinition): Definition {
  const leavesByError = new Set(
    raw.edges.filter((edge) => edge.source_handle === "error").map((edge) => edge.source),
  );
  return {
    id: raw.id,
    title: raw.title === "" ? (raw.id ?? "") : raw.title,
    deadlineMs: raw.deadline_ms,
    nodes: raw.nodes.map((node, ordinal) => buildNode(node, ordinal, leavesByError.has(node.id))),
    edges: raw.edges.map(buildEdge),
  };
}

function buildNode(raw: RawNode, ordinal: number, leavesByError: boolean): NodeDefinition {
  const join = joinOf(raw.join);
  invariant(join !== undefined, "joins were checked");
  return {
    id: nodeId(raw.id),
    type: raw.type,
    label: raw.label,
    ordinal,
    config: raw.config,
    join,
    retry: buildRetry(raw.retry),
    timeoutMs: raw.timeout_ms,
    onParentFailure: raw.on_parent_failure,
    errorHandling: raw.error_handling ?? (leavesByError ? "continue" : "fail_node"),
    outputVariable: raw.output_variable,
    merge: raw.merge,
  };
}

function buildRetry(raw: RawNode["retry"]): RetryPolicy {
  if (raw === undefined) return DEFAULT_RETRY;
  return {
    attempts: raw.attempts,
    backoffMs: raw.backoff_ms,
    maxBackoffMs: raw.max_backoff_ms,
    retryOn: raw.retry_on,
    jitter: raw.jitter,
  };
}

const buildEdge = (raw: RawDefinition["edges"][number], index: number): EdgeDefinition => ({
  id: raw.id ?? `edge-${index}`,
  source: nodeId(raw.source),
  target: nodeId(raw.target),
  sourceHandle: raw.source_handle,
  sourceOutputKey: raw.source_output_key,
  targetParamLabel: raw.target_param_label,
  mergeStrategy: raw.merge_strategy,
});
