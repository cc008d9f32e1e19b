// The naive planner: recomputes everything from the whole log and the definition's own lists, with no counters, no frontier and
// no index. Slow and plain on purpose; the real planner must agree with it on every prefix of every log.

import type { AgentDefinition, Definition, NodeDefinition } from "../src/definition/shape.ts";
import type { RunEvent, ToolCall } from "../src/log/event.ts";

interface Told {
  status: "pending" | "open" | "completed" | "failed" | "cancelled" | "skipped";
  handle: string | undefined;
  fatal: boolean;
  /** Skipped because a node before it failed. */
  afterFailure?: boolean;
}

/** What the log asks for next, each as "node.queued a", "node.skipped a untaken_branch", "run.completed", …; sorted. */
export function oracle(definition: Definition, log: readonly RunEvent[]): string[] {
  if (
    log.length === 0 ||
    log.some((event) => /^run\.(completed|failed|cancelled|timed_out)$/.test(event.type))
  )
    return [];
  const told = new Map(definition.nodes.map((node) => [node.id as string, tell(node, log)]));
  const open = definition.nodes.filter(({ id }) => /pending|open/.test(told.get(id)?.status ?? ""));
  if ([...told.values()].some(({ fatal }) => fatal)) {
    const names = open.flatMap((node) => [node.id, ...iterationsOf(node, log).open]);
    return [...names.map((name) => `node.cancelled ${name}`), "run.failed"].toSorted();
  }
  const next = open.flatMap((node) => [...judge(definition, node, told), ...judgeScope(node, log)]);
  if (next.length > 0) return next.toSorted();
  if (open.length > 0) return judgeStatus(log);
  return [verdict(definition, told)];
}

/** Whether the run waits: nothing of it is under way, and some execution waits for a person or a child run. */
function judgeStatus(log: readonly RunEvent[]): string[] {
  const newest = new Map<string, string>();
  const scopes = new Set<string>();
  let told = "running";
  for (const event of log) {
    if (event.type === "run.status.changed") told = event.payload.to;
    if (event.type === "node.expanded") scopes.add(`${event.nodeId}#0`);
    if (/^(node\.|run\.recovered)/.test(event.type) && event.nodeId !== "")
      newest.set(`${event.nodeId}#${event.iteration}`, event.type);
  }
  const stands = [...newest].filter(([name]) => !scopes.has(name)).map(([, type]) => type);
  const isActive = stands.some((type) => /queued|started|retried|recovered/.test(type));
  const isHeld = stands.some((type) => /blocked|decided/.test(type));
  const status = isHeld && !isActive ? "waiting" : "running";
  return status === told ? [] : [`run.status.changed ${status}`];
}

function tell(node: NodeDefinition, log: readonly RunEvent[]): Told {
  const told: Told = { status: "pending", handle: undefined, fatal: false };
  for (const event of log) {
    if (event.nodeId !== node.id || event.iteration > 0) continue;
    if (event.type === "node.queued" || event.type === "node.started") told.status = "open";
    if (event.type === "node.skipped") {
      told.status = "skipped";
      told.afterFailure = event.payload.reason === "parent_not_completed";
    }
    if (event.type === "node.cancelled") told.status = "cancelled";
    if (event.type === "node.failed" || event.type === "node.timed_out") {
      told.status = "failed";
      told.fatal = node.errorHandling === "fail_workflow";
    }
    if (event.type === "node.completed") {
      told.status = "completed";
      told.handle = event.payload.handle;
    }
  }
  return told;
}

/** The iterations of a node, from the whole log. */
function iterationsOf(node: NodeDefinition, log: readonly RunEvent[]) {
  const own = log.filter((event) => event.nodeId === node.id && event.iteration > 0);
  const queued = [...new Set(own.map((event) => event.iteration))];
  const ended = own.filter(({ type }) =>
    /^node\.(completed|failed|timed_out|cancelled)$/.test(type),
  );
  const over = new Set(ended.map((event) => event.iteration));
  return {
    queued,
    open: queued.filter((at) => !over.has(at)).map((at) => `${node.id}#${at}`),
    hasFailed: ended.some(({ type }) => type !== "node.completed"),
    isStopped: ended.some((event) => event.type === "node.completed" && event.payload.stop),
  };
}

/** What follows inside a map or a loop that has its items. */
function judgeScope(node: NodeDefinition, log: readonly RunEvent[]): string[] {
  const items = log.find((event) => event.nodeId === node.id && event.type === "node.expanded");
  if (items?.type !== "node.expanded" || node.scope === null) return [];
  if (node.scope.agent !== undefined) return judgeAgent(node, node.scope.agent, log);
  const { width, cut = false } = items.payload;
  const { queued, open, hasFailed, isStopped } = iterationsOf(node, log);
  const failure =
    node.errorHandling === "continue"
      ? `node.completed ${node.id} error`
      : `node.failed ${node.id}`;
  if (hasFailed && node.scope.onItemFailure === "fail")
    return [...open.map((name) => `node.cancelled ${name}`), failure];
  if (!isStopped && queued.length < width) {
    const count = Math.min(node.scope.parallelism - open.length, width - queued.length);
    const next = queued.length + 1;
    return Array.from({ length: count }, (_, at) => `node.queued ${node.id}#${next + at}`);
  }
  if (open.length > 0) return [];
  if (cut && !isStopped) return [failure];
  return [`node.completed ${node.id} ${queued.length > 0 ? "loop" : "done"}`];
}

/** What follows inside an agent: its first turn, the calls of its last turn, the next turn, or its end. */
function judgeAgent(
  node: NodeDefinition,
  { maxTurns, tools }: AgentDefinition,
  log: readonly RunEvent[],
): string[] {
  const { queued, open } = iterationsOf(node, log);
  const endOf = (at: number) =>
    log.find(
      ({ nodeId, iteration, type }) =>
        nodeId === node.id &&
        iteration === at &&
        /^node\.(completed|failed|timed_out|cancelled)$/.test(type),
    );
  const failure = [
    ...open.map((name) => `node.cancelled ${name}`),
    node.errorHandling === "continue"
      ? `node.completed ${node.id} error`
      : `node.failed ${node.id}`,
  ];
  let waiting: readonly ToolCall[] = [];
  let running: (readonly [ToolCall, number])[] = [];
  let turns = 0;
  let last = 0;
  for (const at of queued.toSorted((one, other) => one - other)) {
    const [call, ...later] = waiting;
    if (call !== undefined) {
      waiting = later;
      running.push([call, at]);
      continue;
    }
    turns++;
    last = at;
    running = [];
    const end = endOf(at);
    if (end?.type === "node.completed") waiting = end.payload.calls ?? [];
  }
  const named = (at: number): string => `${node.id}#${at}`;
  const next = queued.length + 1;
  if (last === 0) return [`node.queued ${named(1)}`];
  const end = endOf(last);
  if (end === undefined) return [];
  if (end.type !== "node.completed") return failure;
  if ((end.payload.calls ?? []).length === 0) return [`node.completed ${node.id} `];
  const isFatal = running.some(([call, at]) => {
    const ended = endOf(at);
    const tool = tools.find(({ name }) => name === call.name);
    return ended !== undefined && ended.type !== "node.completed" && tool?.onError === "fail";
  });
  if (turns >= maxTurns || isFatal) return failure;
  if (waiting.length > 0)
    return waiting.map(({ fault }, at) =>
      fault === undefined ? `node.queued ${named(next + at)}` : `node.failed ${named(next + at)}`,
    );
  return open.length > 0 ? [] : [`node.queued ${named(next)}`];
}

function judge(
  definition: Definition,
  node: NodeDefinition,
  told: ReadonlyMap<string, Told>,
): string[] {
  if (told.get(node.id)?.status !== "pending") return [];
  const edges = definition.edges.filter((edge) => edge.target === node.id);
  if (edges.length === 0) return [`node.queued ${node.id}`];
  const parents = edges.map((edge) => ({ edge, told: told.get(edge.source) }));
  const settled = parents.filter((parent) => !/pending|open/.test(parent.told?.status ?? ""));
  const taken = settled.filter(({ edge, told: source }) => {
    if (source?.status !== "completed") return false;
    return edge.sourceHandle === null
      ? source.handle !== "error"
      : edge.sourceHandle === source.handle;
  });
  const broken = settled.filter((parent) => /failed|cancelled/.test(parent.told?.status ?? ""));
  const all = settled.length === edges.length;
  const { join } = node;
  if (join.mode !== "all" && taken.length >= (join.mode === "any" ? 1 : join.n))
    return [`node.queued ${node.id}`];
  if (!all) return [];
  if (broken.length === 0) {
    if (join.mode === "all" && taken.length > 0) return [`node.queued ${node.id}`];
    if (!parents.some((parent) => parent.told?.afterFailure))
      return [`node.skipped ${node.id} untaken_branch`];
    return node.onParentFailure === "substitute_default"
      ? [`node.queued ${node.id}`]
      : [`node.skipped ${node.id} parent_not_completed`];
  }
  if (node.onParentFailure === "skip") return [`node.skipped ${node.id} parent_not_completed`];
  return [`node.${node.onParentFailure === "propagate" ? "failed" : "queued"} ${node.id}`];
}

function verdict(definition: Definition, told: ReadonlyMap<string, Told>): string {
  const sources = new Set(definition.edges.map((edge) => edge.source));
  const leaves = definition.nodes.filter((node) => !sources.has(node.id));
  const statusOf = (node: NodeDefinition): string => told.get(node.id)?.status ?? "";
  if (leaves.every((leaf) => /completed|skipped/.test(statusOf(leaf)))) return "run.completed";
  const statuses = new Set([...told.values()].map(({ status }) => status));
  return statuses.has("cancelled") && !statuses.has("failed") ? "run.cancelled" : "run.failed";
}
