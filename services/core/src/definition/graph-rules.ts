// Rules across nodes and edges: ids, references, starts, cycles, handles, joins, variables. They read the raw value tolerantly, so that
// one wrong field does not hide other faults: the author sees every violation at once.

import { isRecord } from "../data/path.ts";
import { DONE, MAX_ITERATIONS } from "./agent-config.ts";
import { findCycle, topologicalWaves } from "./graph.ts";
import { checkLoops } from "./loop-rules.ts";
import type { Join } from "./shape.ts";
import { AWAIT_SIGNAL } from "./signal-config.ts";
import { excerpt, type Report } from "./violation.ts";

/** The readable part of a definition, whatever its faults. */
export type Outline = ReturnType<typeof outlineOf>;
export type OutlineNode = Outline["nodes"][number];
export type OutlineEdge = Outline["edges"][number];

/** The readable part of a raw definition. */
export function outlineOf(raw: unknown) {
  return {
    /** The workflow's own id. */
    id: isRecord(raw) ? text(raw, "id") : undefined,
    nodes: records(raw, "nodes").map((node) => ({
      id: text(node, "id"),
      type: text(node, "type"),
      config: node["config"],
      input: node["input"],
      join: node["join"],
      contracts: node["contracts"],
      moderation: node["moderation"],
      retry: node["retry"],
      compensation: node["compensation"],
      variable: text(node, "output_variable"),
      limits: limitsOf(node),
    })),
    edges: records(raw, "edges").map((edge) => ({
      id: text(edge, "id"),
      source: text(edge, "source"),
      target: text(edge, "target"),
      handle: text(edge, "source_handle"),
      outputKey: text(edge, "source_output_key"),
      param: text(edge, "target_param_label"),
      isLoop: edge["loop"] === true,
      hasBound: edge["max_iterations"] !== undefined,
    })),
    limits: limitsOf(isRecord(raw) ? raw : {}),
    /** The schema of the input of a run. */
    inputSchema: isRecord(raw) ? raw["input_schema"] : undefined,
  };
}

/** The keys of its concurrency and rate, if they are texts. */
function limitsOf({ concurrency, rate }: Readonly<Record<string, unknown>>) {
  const keyOf = (limit: unknown) => (isRecord(limit) ? text(limit, "key") : undefined);
  return { concurrency: keyOf(concurrency), rate: keyOf(rate) };
}

/** Reports every rule that `outline` breaks. */
export function checkGraph(outline: Outline, report: Report): void {
  const { nodes, edges } = outline;
  if (nodes.length === 0) report("nodes", "EMPTY", "a definition needs at least one node");
  checkUnique(report, nodes, (node) => node.id, "DUPLICATE_ID", "nodes[].id");
  checkUnique(report, edges, (edge) => edge.id, "DUPLICATE_ID", "edges[].id");
  const variable = "nodes[].output_variable";
  checkUnique(report, nodes, (node) => node.variable, "DUPLICATE_VARIABLE", variable);
  const indexOf = new Map(
    nodes.flatMap(({ id }, index) => (id === undefined ? [] : [[id, index]])),
  );
  const links = checkEdges(outline, indexOf, report);
  checkStarts(outline, links, report);
  const plain = links.filter(({ isLoop }) => !isLoop);
  checkJoins(outline, plain, report);
  checkCycle(outline, plain, report);
  checkLoops(outline, links, report);
}

/** An edge between two nodes that exist. */
export interface Link {
  readonly source: number;
  readonly target: number;
  /** Its place among the edges. */
  readonly at: number;
  readonly isLoop: boolean;
}

function checkEdges(
  outline: Outline,
  indexOf: ReadonlyMap<string, number>,
  report: Report,
): Link[] {
  const links: Link[] = [];
  outline.edges.forEach((edge, at) => {
    const ends = [edge.source, edge.target].map((id, end) => {
      const index = id === undefined ? undefined : indexOf.get(id);
      const path = `edges[${at}].${end === 0 ? "source" : "target"}`;
      if (id !== undefined && index === undefined)
        report(path, "DANGLING_EDGE", `there is no node ${excerpt(id)}`);
      return index;
    });
    const [source, target] = ends;
    if (source === undefined || target === undefined) return;
    links.push({ source, target, at, isLoop: edge.isLoop });
    const node = outline.nodes[source];
    if (edge.handle === undefined || node === undefined) return;
    const handles = declaredHandles(node);
    if (handles === undefined || handles.includes(edge.handle)) return;
    const message = `${node.id ?? ""} has no handle ${excerpt(edge.handle)}; it has ${excerpt(handles.join(", "))}`;
    report(`edges[${at}].source_handle`, "UNDECLARED_HANDLE", message, node.id);
  });
  return links;
}

/**
 * The handles by which a node can be left, if they are known. A condition has its branches, and `else` if none holds. A map or a loop
 * has `loop` if there were items and `done` if there were none. An approval has one per kind of answer. An await_signal has one for a
 * signal and one for its timeout. A supervisor has its routes, `done` and `max_iterations`. Every node has `error`.
 */
function declaredHandles({ type, config }: OutlineNode): readonly string[] | undefined {
  if (type === "map" || type === "loop") return ["loop", "done", "error"];
  if (type === "approval") return ["approved", "rejected", "timeout", "error"];
  if (type === AWAIT_SIGNAL) return ["received", "timeout", "error"];
  if (type !== "condition" && type !== "supervisor") return undefined;
  const key = type === "condition" ? "branches" : "routes";
  const ids = records(config, key).flatMap((each) => text(each, "id") ?? []);
  const own = type === "condition" ? ["else"] : [DONE, MAX_ITERATIONS];
  return [...new Set([...ids, ...own, "error"])];
}

/**
 * The handle that an edge without one means, if its source can end in more than one way. So a rejected order is not shipped, and a signal
 * that never came releases nothing.
 */
export function impliedHandle(type: string): string | undefined {
  if (type === "approval") return "approved";
  return type === AWAIT_SIGNAL ? "received" : undefined;
}

/** A start node is optional: without one the nodes that no edge leads to start. */
function checkStarts({ nodes }: Outline, links: readonly Link[], report: Report): void {
  const hasParents = new Set(links.map((link) => link.target));
  const hasChildren = new Set(links.map((link) => link.source));
  const first = nodes.findIndex(({ type }) => type === "start");
  nodes.forEach(({ type, id }, index) => {
    if (type === "start" && index !== first)
      report(`nodes[${index}].type`, "MANY_STARTS", "only one node has the type start", id);
  });
  nodes.forEach(({ type, id }, index) => {
    const path = `nodes[${index}]`;
    if (type === "start" && hasParents.has(index))
      report(path, "START_HAS_PARENTS", "an edge may not lead to the start node; remove it", id);
    if (type === "end" && hasChildren.has(index))
      report(path, "END_HAS_CHILDREN", "an edge may not leave an end node; remove it", id);
  });
}

/** A join as written, or undefined if it is not valid: "all", "any" or {n_of_m: n}. */
export function joinOf(raw: unknown): Join | undefined {
  if (raw === undefined || raw === "all") return { mode: "all" };
  if (raw === "any") return { mode: "any" };
  if (!isRecord(raw) || Object.keys(raw).length !== 1) return undefined;
  const n = raw["n_of_m"];
  return Number.isInteger(n) && typeof n === "number" && n >= 1 ? { mode: "n_of_m", n } : undefined;
}

function checkJoins({ nodes }: Outline, links: readonly Link[], report: Report): void {
  const parents = nodes.map(() => 0);
  for (const { target } of links) parents[target] = (parents[target] ?? 0) + 1;
  nodes.forEach((node, index) => {
    const join = joinOf(node.join);
    const count = parents[index] ?? 0;
    const bad = (message: string) => report(`nodes[${index}].join`, "BAD_JOIN", message, node.id);
    if (join === undefined) bad('a join is "all", "any" or {n_of_m: n} with n from 1');
    else if (join.mode === "n_of_m" && join.n > count)
      bad(`n_of_m is ${join.n} but ${count} edges lead here`);
  });
}

function checkCycle({ nodes }: Outline, links: readonly Link[], report: Report): void {
  const outgoing: { target: number }[][] = nodes.map(() => []);
  for (const { source, target } of links) outgoing[source]?.push({ target });
  if (topologicalWaves(outgoing) !== undefined) return;
  const ids = findCycle(outgoing).map((index) => nodes[index]?.id ?? "?");
  const path = ids.length > 20 ? [...ids.slice(0, 18), "…", ...ids.slice(-1)] : ids;
  const cycle = path.map(excerpt).join(" -> ");
  const message = `write loop: true on the edge that leads back; the nodes form a cycle: ${cycle}`;
  report("edges", "CYCLE", message, ids[0] ?? "");
}

/** Reports each key that a list has twice; `path` is the path of the key, with brackets for the index. */
function checkUnique<T extends { readonly id: string | undefined }>(
  report: Report,
  items: readonly T[],
  keyOf: (item: T) => string | undefined,
  reason: string,
  path: string,
): void {
  const seen = new Set<string>();
  items.forEach((item, index) => {
    const key = keyOf(item);
    if (key === undefined) return;
    const message = `${excerpt(key)} is used twice; choose another`;
    if (seen.has(key)) report(path.replace("[]", `[${index}]`), reason, message, item.id);
    seen.add(key);
  });
}

/** The objects of a list. */
export const records = (raw: unknown, key: string): Readonly<Record<string, unknown>>[] => {
  const list: unknown = isRecord(raw) ? raw[key] : undefined;
  // A value that is not an object keeps its place, so that paths stay right.
  return Array.isArray(list) ? list.map((item: unknown) => (isRecord(item) ? item : {})) : [];
};

const text = (raw: Readonly<Record<string, unknown>>, key: string): string | undefined => {
  const value = raw[key];
  return typeof value === "string" ? value : undefined;
};

/** The body of a map or a loop, if the node is one and has one. */
export function bodyOf({
  type,
  config,
}: OutlineNode): Readonly<Record<string, unknown>> | undefined {
  const body = isRecord(config) && (type === "map" || type === "loop") ? config["body"] : undefined;
  return isRecord(body) ? body : undefined;
}
