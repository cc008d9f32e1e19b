// Rules of the policies about labels: each names nodes or types that the workflow has.

import { isRecord } from "../data/path.ts";
import { nearestName } from "../name/nearest.ts";
import { bodyOf, type Outline, records } from "./graph-rules.ts";
import { excerpt, type Report } from "./violation.ts";

/** Reports policies that could never apply. */
export function checkPolicies(raw: unknown, { nodes }: Outline, report: Report): void {
  const policies = records(raw, "policies");
  if (policies.length === 0) return;
  const ids = new Set(nodes.flatMap(({ id }) => id ?? []));
  const types = new Set(
    nodes.flatMap((node) =>
      [node.type, bodyOf(node)?.["type"], ...toolTypes(node.config)].filter((one) => isText(one)),
    ),
  );
  policies.forEach((policy, index) => {
    const path = `policies[${index}]`;
    const named = [textsOf(policy, "nodes"), textsOf(policy, "types")];
    if (named.every((list) => list.length === 0)) {
      const message = "names neither nodes nor types, so it could never apply; add one of them";
      report(path, "EMPTY_POLICY", message);
    }
    const check = (key: "nodes" | "types", known: ReadonlySet<string>, reason: string): void =>
      textsOf(policy, key).forEach((name, at) => {
        if (known.has(name)) return;
        const meant = nearestName(name, known);
        const hint = meant === undefined ? "remove it" : `did you mean ${meant}?`;
        const what = key === "nodes" ? "there is no node" : "no node has the type";
        report(`${path}.${key}[${at}]`, reason, `${what} ${excerpt(name)}; ${hint}`);
      });
    check("nodes", ids, "UNKNOWN_NODE");
    check("types", types, "UNKNOWN_TYPE");
  });
}

/** The types of the tools of an agent. */
const toolTypes = (config: unknown): readonly unknown[] =>
  records(config, "tools").map(({ type, http, workflow }) => {
    if (http !== undefined) return "http";
    return workflow === undefined ? type : "subworkflow";
  });

const isText = (value: unknown): value is string => typeof value === "string";

function textsOf(policy: unknown, key: string): readonly string[] {
  const list: unknown = isRecord(policy) ? policy[key] : undefined;
  return Array.isArray(list) ? list.filter(isText) : [];
}
