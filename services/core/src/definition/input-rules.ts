// Rules of a node's `input`: the syntax of its templates, and that `input` and edges do not give the same parameter.

import { isRecord } from "../data/path.ts";
import { LOOP_ROOTS, MAP_ROOTS, NODE_ROOTS } from "../data/scope.ts";
import { checkTemplates } from "./config-rules.ts";
import { bodyOf, type Outline } from "./graph-rules.ts";
import { isGlueType } from "./node-types.ts";
import { excerpt, violationPath, type Report } from "./violation.ts";

/** Reports every rule that the inputs break. */
export function checkInputs(outline: Outline, report: Report): void {
  const bound = boundParams(outline);
  outline.nodes.forEach((node, index) => {
    const { id = "", type = "", input } = node;
    const params = bound.get(id) ?? NONE;
    const own = { type, input, path: `nodes[${index}].input`, roots: NODE_ROOTS };
    checkInput({ ...own, nodeId: id, params }, report);
    const body = bodyOf(node);
    if (typeof body?.["type"] !== "string") return;
    const roots = type === "loop" ? LOOP_ROOTS : MAP_ROOTS;
    const path = `nodes[${index}].config.body.input`;
    const inner = { type: body["type"], input: body["input"], path, roots };
    checkInput({ ...inner, nodeId: id, params }, report);
  });
}

interface Given {
  readonly type: string;
  readonly input: unknown;
  readonly path: string;
  readonly roots: ReadonlySet<string>;
  readonly nodeId: string;
  readonly params: Params;
}

/** The parameters that edges bind, each with its first edge. */
type Params = ReadonlyMap<string, number>;

const NONE: Params = new Map();

function checkInput({ type, input, path, roots, nodeId, params }: Given, report: Report): void {
  if (input === undefined) return;
  if (isGlueType(type)) {
    const message = `a node of type ${type} takes no input; write templates in its config`;
    report(path, "INPUT_UNUSED", message, nodeId);
    return;
  }
  checkTemplates({ value: input, path, key: "" }, { type: "", nodeId, roots }, report);
  for (const [name, edge] of params) {
    if (!isRecord(input)) {
      const message = `must be an object, because edges[${edge}] adds the key ${excerpt(name)}`;
      report(path, "WRONG_TYPE", message, nodeId);
      return;
    }
    if (!Object.hasOwn(input, name)) continue;
    const message = `edges[${edge}] binds ${excerpt(name)} too; remove one of them`;
    report(violationPath([name], path), "DUPLICATE_PARAMETER", message, nodeId);
  }
}

/** The bound parameters by the node that their edges lead to. */
function boundParams({ edges }: Outline): ReadonlyMap<string, Params> {
  const bound = new Map<string, Map<string, number>>();
  edges.forEach(({ target, param }, edge) => {
    if (target === undefined || param === undefined) return;
    const params = bound.get(target) ?? new Map<string, number>();
    if (!params.has(param)) params.set(param, edge);
    bound.set(target, params);
  });
  return bound;
}
