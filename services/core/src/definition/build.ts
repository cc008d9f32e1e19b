// A raw definition that broke no rule becomes the Definition that all other rooms use: camelCase, with defaults filled in.

import { LIMITS } from "../data/limits.ts";
import { oldSpellingsIn } from "../fault/cause.ts";
import { invariant } from "../fault/invariant.ts";
import { nodeId } from "../name/ids.ts";
import { limitsAny } from "../policy/budget.ts";
import type { ConcurrencyLimit, RateLimit } from "../policy/limit.ts";
import { DEFAULT_RETRY, type RetryPolicy, STANDARD_RETRY } from "../policy/retry.ts";
import type { TaintRule } from "../policy/taint.ts";
import type { Receiver } from "../policy/webhook.ts";
import type { RawTool } from "./agent-config.ts";
import { declarationOf, toolName, toolNode } from "./agent-tools.ts";
import { amountsOf } from "./amounts.ts";
import { impliedHandle, joinOf } from "./graph-rules.ts";
import { NODE_CONFIGS } from "./node-types.ts";
import { memoryReadsOf, readsOf, toolReadsOf } from "./reads.ts";
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
  const implied = new Map(raw.nodes.map(({ id, type }) => [id, impliedHandle(type)]));
  const spellings = oldSpellingsIn(JSON.stringify(raw));
  return {
    id: raw.id,
    title: raw.title === "" ? (raw.id ?? "") : raw.title,
    deadlineMs: Math.min(raw.deadline_ms, raw.budget?.wall_time_ms ?? Infinity),
    maxIterations: raw.max_iterations,
    compensateOn: new Set(raw.compensate_on),
    compensationTimeoutMs: raw.compensation_timeout_ms,
    maxRetries: raw.max_retries,
    goal: raw.goal,
    constraints: raw.constraints,
    ...buildBudget(raw.budget),
    concurrency: buildConcurrency(raw.concurrency, ""),
    rate: buildRate(raw.rate, ""),
    // The rules have checked that it is an object or a boolean.
    inputSchema: (raw.input_schema ?? null) as JsonSchema | null,
    memory: new Map(Object.entries(raw.memory).map(([key, { merge }]) => [key, merge])),
    hasUntrustedInput: raw.untrusted_input,
    policies: raw.policies.map(buildPolicy),
    webhooks: raw.webhooks.map(buildWebhook),
    nodes: raw.nodes.map((node, ordinal) => {
      const built = buildNode(node, ordinal, leavesByError.has(node.id));
      return spellings === undefined ? built : { ...built, causeSpellings: spellings };
    }),
    edges: raw.edges.map((edge, index) => buildEdge(edge, index, implied.get(edge.source))),
  };
}

const buildWebhook = ({ url, endpoint, events }: RawDefinition["webhooks"][number]): Receiver => ({
  ...{ events: [...new Set(events)], endpointId: endpoint ?? null, url: url ?? null },
  ...{ headers: {}, secret: null },
});

const buildPolicy = (raw: RawDefinition["policies"][number]): TaintRule => ({
  action: raw.action,
  nodes: new Set(raw.nodes),
  types: new Set(raw.types),
  labels: new Set(raw.if_tainted_by),
  message: raw.message,
});

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
    ...(raw.taint === undefined ? {} : { taint: raw.taint }),
    ...buildCompensation(raw),
    ...(raw.budget === undefined ? {} : { budget: amountsOf(raw.budget) }),
    ...(raw.reserve === undefined ? {} : { reserve: amountsOf(raw.reserve) }),
  };
}

/** Without an input, the handler gets the output of the node. Unlike a node, it has three attempts. */
function buildCompensation({
  compensation: raw,
}: RawNode): Pick<NodeDefinition, "compensation"> | undefined {
  if (raw === undefined) return undefined;
  const { type, config, input = "{{ ctx.output }}", timeout_ms: timeoutMs } = raw;
  const retry = raw.retry === undefined ? STANDARD_RETRY : buildRetry(raw.retry);
  return { compensation: { type, config, input, retry, timeoutMs } };
}

const boundOf = ({ max_iterations: maxIterations }: Pick<RawNode, "max_iterations">) =>
  maxIterations === undefined ? {} : { maxIterations };

function buildBudget(raw: RawDefinition["budget"]): Pick<Definition, "budget" | "dailyBudget"> {
  if (raw === undefined) return {};
  const amounts = amountsOf(raw);
  const daily = amountsOf(raw.per_day ?? {});
  const onExceeded = raw.on_exceeded === undefined ? {} : { onExceeded: raw.on_exceeded };
  return {
    ...(limitsAny(amounts) ? { budget: { ...amounts, ...onExceeded } } : {}),
    ...(limitsAny(daily) ? { dailyBudget: daily } : {}),
  };
}

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

function buildScope(node: RawNode): ScopeDefinition | null {
  const { type, config, concurrency, rate } = node;
  const keys = [concurrency?.key ?? "", rate?.key ?? ""];
  if (type === "agent") return buildAgent(node, keys);
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

/** A turn reads the conversation and nothing else: the agent filled in its templates when it expanded. */
function buildAgent(node: RawNode, keys: readonly string[]): ScopeDefinition {
  const { config, retry, timeout_ms: timeoutMs } = node;
  const { tools, max_turns: maxTurns } = NODE_CONFIGS.agent.parse(config);
  const shared = { retry: buildRetry(retry), timeoutMs, errorHandling: "fail_node" } as const;
  const turn = { type: "agent", config: { declarations: tools.map(declarationOf) } };
  const reads = readsOf({ type: "noop", config: {}, input: undefined, until: null, keys });
  return {
    body: { ...turn, ...shared, reads },
    agent: { maxTurns, tools: tools.map(buildTool) },
    ...{ parallelism: LIMITS.agentCalls, onItemFailure: "continue", until: null },
    hasPrevious: false,
  };
}

function buildTool(tool: RawTool) {
  const node = toolNode(tool);
  const { retry, timeout_ms: timeoutMs, on_error: onError } = tool;
  const shared = { retry: buildRetry(retry), timeoutMs, errorHandling: "fail_node" } as const;
  const body = { ...node, ...shared, reads: toolReadsOf(node) };
  return { name: toolName(tool), body, onError };
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
  implied: string | undefined,
): EdgeDefinition => ({
  id: raw.id ?? `edge-${index}`,
  source: nodeId(raw.source),
  target: nodeId(raw.target),
  sourceHandle: raw.source_handle ?? implied ?? null,
  sourceOutputKey: raw.source_output_key,
  targetParamLabel: raw.target_param_label,
  mergeStrategy: raw.merge_strategy,
  ...(raw.loop ? { loop: true } : {}),
  ...boundOf(raw),
});
