// Rules across nodes and edges: ids, references, starts, cycles, handles, joins, variables. They read the raw value tolerantly, so that
// one wrong field does not hide other faults: the author sees every violation at once.

import { isRecord } from "../data/path.ts";
import { findCycle, topologicalWaves } from "./graph.ts";
import type { Join } from "./shape.ts";
import { excerpt, type Report } from "./violation.ts";

/** The readable part of a definition, whatever its faults. */
export interface Outline {
  /** The workflow's own id. */
  readonly id: string | undefined;
  readonly nodes: readonly OutlineNode[];
  readonly edges: readonly OutlineEdge[];
  readonly limits: OutlineLimits;
}
export interface OutlineNode {
  readonly id: string | undefined;
  readonly type: string | undefined;
  readonly config: unknown;
  readonly join: unknown;
  readonly contracts: unknown;
  readonly moderation: unknown;
  readonly retry: unknown;
  readonly variable: string | undefined;
  readonly limits: OutlineLimits;
}
/** The keys of its concurrency and rate, if they are texts. */
interface OutlineLimits {
  readonly concurrency: string | undefined;
  readonly rate: string | undefined;
}
export interface OutlineEdge {
  readonly id: string | undefined;
  readonly source: string | undefined;
  readonly target: string | undefined;
  readonly handle: string | undefined;
  readonly outputKey: string | undefined;
  readonly param: string | undefined;
}

/** The readable part of a raw definition. */
export function outlineOf(raw: unknown): Outline {
  return {
    id: isRecord(raw) ? text(raw, "id") : undefined,
    nodes: records(raw, "nodes").map((node) => ({
      id: text(node, "id"),
      type: text(node, "type"),
      config: node["config"],
      join: node["join"],
      contracts: node["contracts"],
      moderation: node["moderation"],
      retry: node["retry"],
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
    })),
    limits: limitsOf(isRecord(raw) ? raw : {}),
  };
}

function limitsOf({ concurrency, rate }: Readonly<Record<string, unknown>>): OutlineLimits {
  const keyOf = (limit: unknown) => (isRecord(limit) ? text(limit, "key") : undefined);
  return { concurrency: keyOf(concurrency), rate: keyOf(rate) };
}

/** Reports every rule that `outline` breaks. */
export function checkGraph(outline: Outline, report: Report): void {
  const { nodes, edges } = outline;
  if (nodes.length === 0) report("nodes", "EMPTY", "a definition needs at least one node");
  unique(
    nodes,
    (node) => node.id,
    "DUPLICATE_ID",
    (index) => `nodes[${index}].id`,
    report,
  );
  unique(
    edges,
    (edge) => edge.id,
    "DUPLICATE_ID",
    (index) => `edges[${index}].id`,
    report,
  );
  unique(
    nodes,
    (node) => node.variable,
    "DUPLICATE_VARIABLE",
    (index) => `nodes[${index}].output_variable`,
    report,
  );
  const indexOf = new Map(
    nodes.flatMap(({ id }, index) => (id === undefined ? [] : [[id, index]])),
  );
  const links = checkEdges(outline, indexOf, report);
  checkStarts(outline, links, report);
  checkJoins(outline, links, report);
  checkCycle(outline, links, report);
}

interface Link {
  readonly source: number;
  readonly target: number;
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
      if (id !== undefined && index === undefined)
        report(
          `edges[${at}].${end === 0 ? "source" : "target"}`,
          "DANGLING_EDGE",
          `there is no node ${excerpt(id)}`,
        );
      return index;
    });
    const [source, target] = ends;
    if (source === undefined || target === undefined) return;
    links.push({ source, target });
    const node = outline.nodes[source];
    if (edge.handle === undefined || node === undefined) return;
    const handles = declaredHandles(node);
    if (handles !== undefined && !handles.has(edge.handle))
      report(
        `edges[${at}].source_handle`,
        "UNDECLARED_HANDLE",
        `${node.id ?? ""} has no handle ${excerpt(edge.handle)}; it has ${excerpt([...handles].join(", "))}`,
        node.id,
      );
  });
  return links;
}

/**
 * The handles by which a node can be left, if they are known. A condition has its branches, and `else` if none holds. A map or a loop
 * has `loop` if there were items and `done` if there were none. An approval has one per kind of answer. Every node has `error`.
 */
function declaredHandles({ type, config }: OutlineNode): ReadonlySet<string> | undefined {
  if (type === "map" || type === "loop") return new Set(["loop", "done", "error"]);
  if (type === "approval") return new Set(["approved", "rejected", "timeout", "error"]);
  if (type !== "condition") return undefined;
  const branches = records(config, "branches").flatMap((branch) => text(branch, "id") ?? []);
  return new Set([...branches, "else", "error"]);
}

/** A start node is optional: without one the nodes that no edge leads to start. */
function checkStarts({ nodes }: Outline, links: readonly Link[], report: Report): void {
  const starts = nodes.flatMap((node, index) => (node.type === "start" ? [index] : []));
  for (const index of starts.slice(1))
    report(
      `nodes[${index}].type`,
      "MANY_STARTS",
      "only one node has the type start",
      nodes[index]?.id,
    );
  const hasParents = new Set(links.map((link) => link.target));
  const hasChildren = new Set(links.map((link) => link.source));
  nodes.forEach(({ type, id }, index) => {
    if (type === "start" && hasParents.has(index))
      report(
        `nodes[${index}]`,
        "START_HAS_PARENTS",
        "an edge may not lead to the start node; remove it",
        id,
      );
    if (type === "end" && hasChildren.has(index))
      report(
        `nodes[${index}]`,
        "END_HAS_CHILDREN",
        "an edge may not leave an end node; remove it",
        id,
      );
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
    if (join === undefined)
      report(
        `nodes[${index}].join`,
        "BAD_JOIN",
        'a join is "all", "any" or {n_of_m: n} with n from 1',
        node.id,
      );
    else if (join.mode === "n_of_m" && join.n > count)
      report(
        `nodes[${index}].join`,
        "BAD_JOIN",
        `n_of_m is ${join.n} but ${count} edges lead here`,
        node.id,
      );
  });
}

function checkCycle({ nodes }: Outline, links: readonly Link[], report: Report): void {
  const outgoing: { target: number }[][] = nodes.map(() => []);
  for (const { source, target } of links) outgoing[source]?.push({ target });
  if (topologicalWaves(outgoing) !== undefined) return;
  const ids = findCycle(outgoing).map((index) => nodes[index]?.id ?? "?");
  const path = ids.length > 20 ? [...ids.slice(0, 18), "…", ...ids.slice(-1)] : ids;
  const cycle = path.map(excerpt).join(" -> ");
  report("edges", "CYCLE", `the nodes form a cycle: ${cycle}`, ids[0] ?? "");
}

function unique<T extends { readonly id: string | undefined }>(
  items: readonly T[],
  keyOf: (item: T) => string | undefined,
  reason: string,
  pathOf: (index: number) => string,
  report: Report,
): void {
  const seen = new Set<string>();
  items.forEach((item, index) => {
    const key = keyOf(item);
    if (key === undefined) return;
    if (seen.has(key))
      report(pathOf(index), reason, `${excerpt(key)} is used twice; choose another`, item.id);
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
