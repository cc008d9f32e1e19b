// Rules for definitions that authors write now. A definition that was saved before a rule existed keeps running: the parser does not
// apply these rules to text from the store.

import { isRecord, isReservedName } from "../data/path.ts";
import { patternFault } from "../data/pattern.ts";
import { toolsIn } from "./agent-tools.ts";
import { INPUT_SCHEMA, schemasOf } from "./contract-rules.ts";
import { patternsOf, subschemas } from "./contract-tree.ts";
import {
  bodyOf,
  impliedHandle,
  joinOf,
  records,
  type Outline,
  type OutlineEdge,
} from "./graph-rules.ts";
import { checkRetry } from "./retry-rules.ts";
import { excerpt, violationPath, type Report } from "./violation.ts";

/** Reports each of these rules that `outline` breaks. */
export function checkAuthored(outline: Outline, report: Report): void {
  checkNames(outline, report);
  checkRepeatedEdges(outline, report);
  checkPatterns(outline, report);
  outline.nodes.forEach((node, index) => {
    const { id = "", type = "", retry, moderation, contracts } = node;
    const hasOutput = isRecord(contracts) && (contracts["output"] ?? null) !== null;
    const isModerated = typeof moderation === "string" && moderation !== "none";
    const path = `nodes[${index}].retry`;
    checkRetry({ type, retry, hasOutput, isModerated, path, nodeId: id }, report);
    if (type === "agent")
      for (const tool of toolsIn(node.config, `nodes[${index}].config`)) {
        const own = { type: tool.type, retry: tool.raw["retry"], hasOutput: false, isModerated };
        checkRetry({ ...own, path: `${tool.path}.retry`, nodeId: id }, report);
      }
    const body = bodyOf(node);
    if (typeof body?.["type"] !== "string") return;
    const own = { type: body["type"], retry: body["retry"], hasOutput: false, isModerated };
    checkRetry({ ...own, path: `nodes[${index}].config.body.retry`, nodeId: id }, report);
  });
}

/** Ids are keys of `ctx.nodes` and similar objects, where these names would find inherited properties. */
function checkNames({ id, nodes, edges }: Outline, report: Report): void {
  const check = (path: string, name: unknown, nodeId?: string): void => {
    if (typeof name !== "string" || !isReservedName(name)) return;
    const message = `every JavaScript object has a ${name} of its own; choose another name`;
    report(path, "RESERVED_KEY", message, nodeId);
  };
  check("id", id);
  nodes.forEach((node, index) => {
    check(`nodes[${index}].id`, node.id, node.id);
    check(`nodes[${index}].output_variable`, node.variable, node.id);
    if (node.type !== "condition" && node.type !== "supervisor") return;
    const key = node.type === "condition" ? "branches" : "routes";
    records(node.config, key).forEach((each, at) =>
      check(`nodes[${index}].config.${key}[${at}].id`, each["id"], node.id),
    );
  });
  edges.forEach((edge, index) => {
    check(`edges[${index}].id`, edge.id);
    check(`edges[${index}].source_handle`, edge.handle);
  });
}

/** The name of an edge without a handle; no real handle has it. */
const ANY = "";

/**
 * The same edge twice brings the same value twice. Two edges that are always taken together count twice for a join of n_of_m, although
 * only one parent is done.
 */
function checkRepeatedEdges({ nodes, edges }: Outline, report: Report): void {
  const counted = new Set(
    nodes.flatMap(({ id, join }) => (joinOf(join)?.mode === "n_of_m" ? [id] : [])),
  );
  const implied = new Map(nodes.map(({ id, type = "" }) => [id, impliedHandle(type)]));
  const handleOf = ({ source, handle }: OutlineEdge): string =>
    handle ?? implied.get(source) ?? ANY;
  /** The first edge by all its keys, and by its ends and handle. */
  const same = new Map<string, number>();
  const between = new Map<string, Map<string, number>>();
  edges.forEach((edge, index) => {
    const { source, target, outputKey = "output", param = null } = edge;
    if (source === undefined || target === undefined) return;
    const handle = handleOf(edge);
    const whole = JSON.stringify([source, target, handle, outputKey, param]);
    const ends = JSON.stringify([source, target]);
    const handles = between.get(ends) ?? new Map<string, number>();
    const twin = same.get(whole);
    const beside = counted.has(target) ? takenWith(handles, handle) : undefined;
    const way = `from ${excerpt(source)} to ${excerpt(target)}`;
    const refuse = (first: number, why: string): void =>
      report(`edges[${index}]`, "DUPLICATE_EDGE", `edges[${first}] and edges[${index}] ${why}`);
    if (twin !== undefined) refuse(twin, `are the same edge ${way}; remove one of them`);
    else if (beside !== undefined)
      refuse(
        beside,
        `both lead ${way}, where n_of_m counts edges: one parent would count twice; use one edge`,
      );
    else same.set(whole, index);
    if (!handles.has(handle)) handles.set(handle, index);
    between.set(ends, handles);
  });
}

/** An edge that is taken together with an edge of this handle: an edge without a handle is, unless the handle is `error`. */
function takenWith(handles: ReadonlyMap<string, number>, handle: string): number | undefined {
  const own = handles.get(handle);
  if (own !== undefined || handle === "error") return own;
  if (handle !== ANY) return handles.get(ANY);
  return [...handles].find(([other]) => other !== "error")?.[1];
}

/** Patterns that compile to something else than their author wrote. */
function checkPatterns(outline: Outline, report: Report): void {
  const check = (schema: unknown, path: string, nodeId = ""): void => {
    for (const each of subschemas(schema))
      for (const { at, pattern } of patternsOf(each.schema)) {
        const fault = patternFault(pattern);
        if (fault === undefined) continue;
        report(violationPath([...each.steps, ...at], path), "CONTRACT_PATTERN", fault, nodeId);
      }
  };
  check(outline.inputSchema, INPUT_SCHEMA);
  outline.nodes.forEach((node, index) => {
    for (const { path, schema } of schemasOf(node, index)) check(schema, path, node.id);
  });
}
