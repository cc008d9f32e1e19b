// Finds definitions that are allowed but contain a likely mistake. A warning does not prevent saving, unless the author asks for
// strictness.

import { isRecord } from "../data/path.ts";
import { nearestName } from "../name/nearest.ts";
import { toolsIn } from "./agent-tools.ts";
import { bodyOf, type Outline } from "./graph-rules.ts";
import type { KnownTypes } from "./known-types.ts";
import { isGlueType, NODE_CONFIGS } from "./node-types.ts";
import { excerpt, type Report } from "./violation.ts";

/** Reports nodes that no edge leads to. If types are known, also reports types that no connected executor serves. */
export function warn(outline: Outline, types: KnownTypes | undefined, report: Report): void {
  warnOfIslands(outline, report);
  if (types !== undefined) warnOfTypes(outline, types, report);
}

/**
 * With a start node, another node without parents is most likely a forgotten edge. The graph has no cycles, so every node that the start
 * does not reach follows such a node. Without a start node all nodes without parents start, as the author meant.
 */
function warnOfIslands({ nodes, edges }: Outline, report: Report): void {
  if (!nodes.some(({ type }) => type === "start")) return;
  const plain = edges.filter(({ isLoop }) => !isLoop);
  const targets = new Set(plain.map(({ target }) => target));
  const sources = new Set(plain.map(({ source }) => source));
  nodes.forEach(({ id, type }, index) => {
    if (id === undefined || type === "start" || targets.has(id)) return;
    const what = sources.has(id) ? `${excerpt(id)}, and so to the nodes behind it` : excerpt(id);
    const message = `no edge leads to ${what}, so it runs at once, beside the start; add an edge to it, or remove it`;
    report(`nodes[${index}]`, "UNREACHED", message, id);
  });
}

function warnOfTypes({ nodes }: Outline, { served, registered }: KnownTypes, report: Report): void {
  const known = new Set([...Object.keys(NODE_CONFIGS), ...registered, ...served]);
  const check = (type: unknown, path: string, id: string | undefined): void => {
    if (typeof type !== "string" || served.has(type) || isGlueType(type)) return;
    const meant = known.has(type) ? undefined : nearestName(type, known);
    const hint =
      meant === undefined ? "its runs wait until an executor does" : `did you mean ${meant}?`;
    const message = `no connected executor serves ${excerpt(type)}; ${hint}`;
    report(path, "TYPE_NOT_SERVED", message, id);
  };
  nodes.forEach((node, index) => {
    check(node.type, `nodes[${index}].type`, node.id);
    check(bodyOf(node)?.["type"], `nodes[${index}].config.body.type`, node.id);
    const { compensation } = node;
    if (isRecord(compensation))
      check(compensation["type"], `nodes[${index}].compensation.type`, node.id);
    if (node.type !== "agent") return;
    for (const { type, path } of toolsIn(node.config, `nodes[${index}].config`))
      check(type, `${path}.type`, node.id);
  });
}
