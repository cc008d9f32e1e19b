// Rules of a node's `compensation`: the node has something to undo, an executor can undo it, and its templates name only what is kept until
// then. That is the output of the node and the input of the run: outputs of other nodes, variables and memory may have changed since.

import { isRecord } from "../data/path.ts";
import { checkConfig, checkTemplates } from "./config-rules.ts";
import { bodyOf, type Outline, type OutlineNode } from "./graph-rules.ts";
import { isGlueType } from "./node-types.ts";
import { checkRetry } from "./retry-rules.ts";
import { templatePaths } from "./template-paths.ts";
import { excerpt, type Report } from "./violation.ts";

/** The roots of templates in a compensation. */
const ROOTS: ReadonlySet<string> = new Set(["ctx"]);
const PARTS: ReadonlySet<unknown> = new Set(["output", "input"]);

/** Reports every rule that the compensations break. */
export function checkCompensations(outline: Outline, report: Report): void {
  outline.nodes.forEach((node, index) => {
    const { compensation, id: nodeId = "" } = node;
    if (!isRecord(compensation)) return;
    const path = `nodes[${index}].compensation`;
    const refuse = (at: string, reason: string, message: string): void =>
      report(at, reason, message, nodeId);
    checkHost(node, path, refuse);
    const { type, config = {}, input, retry } = compensation;
    if (typeof type !== "string") return;
    if (isGlueType(type)) {
      const message = `a ${type} does nothing outside of its run, so it undoes nothing; name a type that an executor runs`;
      refuse(`${path}.type`, "UNDOES_NOTHING", message);
      return;
    }
    const owner = { type, nodeId, roots: ROOTS };
    if (isRecord(config)) checkConfig({ ...owner, path: `${path}.config` }, config, report);
    checkTemplates(
      { value: input, path: `${path}.input`, key: "" },
      { ...owner, type: "" },
      report,
    );
    checkRetry(
      { type, retry, hasOutput: false, isModerated: false, path: `${path}.retry`, nodeId },
      report,
    );
    for (const { at, named } of templatePaths(compensation, path)) {
      if (named[0] !== "ctx" || named.length === 1 || PARTS.has(named[1])) continue;
      const message = `ctx.${excerpt(String(named[1]))} is not kept for a compensation; it reads ctx.output, the output of its node, and ctx.input, the input of the run`;
      refuse(at, "NOT_KEPT", message);
    }
  });
}

type Refuse = (at: string, reason: string, message: string) => void;

/** A glue node acts on nothing outside of its run. The compensation of a map or a loop is for each of its iterations. */
function checkHost(node: OutlineNode, path: string, refuse: Refuse): void {
  const body = bodyOf(node)?.["type"];
  const type = typeof body === "string" ? body : (node.type ?? "");
  if (!isGlueType(type)) return;
  const message = `a ${type} does nothing outside of its run, so there is nothing to undo; remove the compensation`;
  refuse(path, "NOTHING_TO_UNDO", message);
}
