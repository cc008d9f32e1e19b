// A raw definition that broke no rule becomes the Definition that all other rooms use: camelCase, with defaults filled in.

import { oldSpellingsIn } from "../fault/cause.ts";
import { invariant } from "../fault/invariant.ts";
import { nodeId } from "../name/ids.ts";
import type { ConcurrencyLimit, RateLimit } from "../policy/limit.ts";
import { DEFAULT_RETRY, type RetryPolicy } from "../policy/retry.ts";
import { joinOf } from "./graph-rules.ts";
import { NODE_CONFIGS } from "./node-types.ts";
import { memoryReadsOf, readsOf } from "./reads.ts";
import type { RawDefinition, RawNode } from "./schema.ts";
import type {
  Definition,
  EdgeDefinition,
  JsonSchema,
  MemoryReads,
  NodeContracts,
  NodeDefinition,
  ScopeDefinition,
} from "./shape.ts";

/** Builds the definition; `raw` has passed every rule. */
export function buildDefinition(raw: RawDefinition): Definition {
  const leavesByError = new Set(
    raw.edges.filter((edge) => edge.source_handle === "error").map((edge) => edge.source),
  );
  const approvals = new Set(
    raw.nodes.filter(({ type }) => type === "approval").map(({ id }) => id),
  );
  const spellings = oldSpellingsIn(JSON.stringify(raw));
  return {
    id: raw.id,
    title: raw.title === "" ? (raw.id ?? "") : raw.title,
    deadlineMs: raw.deadline_ms,
    maxIterations: raw.max_iterations,
    concurrency: buildConcurrency(raw.concurrency, ""),
    rate: buildRate(raw.rate, ""),
    // The rules have checked that it is an object or a boolean.
    inputSchema: (raw.input_schema ?? null) as JsonSchema | null,
    memory: new Map(Object.entries(raw.memory).map(([key, { merge }]) => [key, merge])),
    nodes: raw.nodes.map((node, ordinal) => {
      const built = buildNode(node, ordinal, leavesByError.has(node.id));
      return spellings === undefined ? built : { ...built, causeSpellings: spellings };
    }),
    edges: raw.edges.map((edge, index) => buildEdge(edge, index, approvals.has(edge.source))),
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
    ...buildInput(raw),
    join,
    late: raw.late ?? "ignore",
    retry: buildRetry(raw.retry),
    timeoutMs: raw.timeout_ms,
    onParentFailure: raw.on_parent_failure,
    errorHandling: raw.error_handling ?? (leavesByError ? "continue" : "fail_node"),
    outputVariable: raw.output_variable,
    writeKey: raw.write_key,
    readKeys: buildReadKeys(raw),
    merge: raw.merge,
    contracts: buildContracts(raw.contracts),
    scope: buildScope(raw),
    moderation: raw.moderation,
    moderationAction: raw.moderation_action,
    concurrency: buildConcurrency(raw.concurrency, raw.id),
    rate: buildRate(raw.rate, raw.id),
    priority: raw.priority,
    ...boundOf(raw),
  };
}

const boundOf = ({ max_iterations: maxIterations }: Pick<RawNode, "max_iterations">) =>
  maxIterations === undefined ? {} : { maxIterations };

/** A node whose templates name every key that it reads gets no other key. */
function buildReadKeys({ read_keys: keys, concurrency, rate, ...node }: RawNode): MemoryReads {
  const limitKeys = [concurrency?.key ?? "", rate?.key ?? ""];
  return keys === undefined ? memoryReadsOf({ ...node, keys: limitKeys }) : new Set(keys);
}

/** A limit without a key applies to the node, or the workflow, as a whole. */
function buildConcurrency(raw: RawNode["concurrency"], whole: string): ConcurrencyLimit | null {
  if (raw === undefined) return null;
  return { key: raw.key ?? whole, limit: raw.limit, scope: raw.scope };
}

function buildRate(raw: RawNode["rate"], whole: string): RateLimit | null {
  if (raw === undefined) return null;
  return { key: raw.key ?? whole, limit: raw.limit, perMs: raw.per_ms, scope: raw.scope };
}

function buildScope({ type, config, concurrency, rate }: RawNode): ScopeDefinition | null {
  const keys = [concurrency?.key ?? "", rate?.key ?? ""];
  if (type === "map") {
    const { body, parallelism, on_item_failure: onItemFailure } = NODE_CONFIGS.map.parse(config);
    const shared = { until: null, hasPrevious: false };
    return { body: buildBody(body, null, keys), parallelism, onItemFailure, ...shared };
  }
  if (type !== "loop") return null;
  const { body, until = null } = NODE_CONFIGS.loop.parse(config);
  const shared = { parallelism: 1, onItemFailure: "fail", hasPrevious: true } as const;
  return { body: buildBody(body, until, keys), until, ...shared };
}

function buildBody(
  raw: Pick<RawNode, "type" | "config" | "input" | "retry" | "timeout_ms">,
  until: string | null,
  keys: readonly string[],
): ScopeDefinition["body"] {
  const { type, config, input, retry, timeout_ms: timeoutMs } = raw;
  const reads = readsOf({ type, config, input, until, keys });
  const own = { type, config, ...buildInput(raw) };
  return { ...own, retry: buildRetry(retry), timeoutMs, errorHandling: "fail_node", reads };
}

const buildInput = ({ input }: Pick<RawNode, "input">): Pick<NodeDefinition, "input"> =>
  input === undefined ? {} : { input };

/** The rules have checked that each is an object or a boolean. */
const buildContracts = (raw: RawNode["contracts"]): NodeContracts => ({
  input: (raw?.input ?? null) as JsonSchema | null,
  output: (raw?.output ?? null) as JsonSchema | null,
});

function buildRetry(raw: RawNode["retry"]): RetryPolicy {
  if (raw === undefined) return DEFAULT_RETRY;
  const { attempts, backoff_ms: backoffMs, max_backoff_ms: maxBackoffMs, jitter } = raw;
  return { attempts, backoffMs, maxBackoffMs, retryOn: raw.retry_on, jitter };
}

const buildEdge = (
  raw: RawDefinition["edges"][number],
  index: number,
  isApproval: boolean,
): EdgeDefinition => ({
  id: raw.id ?? `edge-${index}`,
  source: nodeId(raw.source),
  target: nodeId(raw.target),
  // An edge without a handle after an approval means `approved`: a rejected order is not shipped.
  sourceHandle: raw.source_handle ?? (isApproval ? "approved" : null),
  sourceOutputKey: raw.source_output_key,
  targetParamLabel: raw.target_param_label,
  mergeStrategy: raw.merge_strategy,
  ...(raw.loop ? { loop: true } : {}),
  ...boundOf(raw),
});
