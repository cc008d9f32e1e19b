// Rules of loop edges. A loop edge leads back to a node before its source, and its source must choose it by a handle: a loop without
// that choice never ends. An edge to a supervisor needs none, because the supervisor chooses, and bounds how often.

import { LIMITS } from "../data/limits.ts";
import type { Link, Outline } from "./graph-rules.ts";
import { excerpt, type Report } from "./violation.ts";

/** Reports every rule that loop edges break. `links` are all edges between nodes that exist. */
export function checkLoops(
  { nodes, edges }: Outline,
  links: readonly Link[],
  report: Report,
): void {
  edges.forEach(({ isLoop, hasBound }, at) => {
    if (hasBound && !isLoop)
      report(
        `edges[${at}].max_iterations`,
        "NOT_A_LOOP",
        "only a loop edge repeats; write loop: true, or remove it",
      );
  });
  const loops = links.filter(({ isLoop }) => isLoop);
  if (loops.length > LIMITS.loopEdges) {
    const message = `${loops.length} loop edges; at most ${LIMITS.loopEdges}`;
    report("edges", "TOO_MANY_LOOPS", message);
  }
  if (loops.length === 0 || loops.length > LIMITS.loopEdges) return;
  const children = Map.groupBy(
    links.filter(({ isLoop }) => !isLoop),
    ({ source }) => source,
  );
  const nameOf = (index: number): string => excerpt(nodes[index]?.id ?? "?");
  for (const { source, target, at } of loops) {
    const id = nodes[source]?.id ?? "";
    const handle = edges[at]?.handle;
    if (handle === undefined && nodes[target]?.type !== "supervisor") {
      const message = `${nameOf(source)} would always lead back; name the handle by which it repeats in source_handle`;
      report(`edges[${at}]`, "UNBOUNDED_LOOP", message, id);
    }
    if (!reaches(children, target, source)) {
      const message = `no path leads from ${nameOf(target)} to ${nameOf(source)}, so this edge does not lead back; remove loop: true`;
      report(`edges[${at}].loop`, "BAD_LOOP", message, id);
    }
    const rival = links.find(
      (other) => other.at !== at && other.source === source && edges[other.at]?.handle === handle,
    );
    // Each pair of loop edges is reported once, at the later one.
    if (rival === undefined || (rival.isLoop && rival.at > at)) continue;
    const by = handle === undefined ? "no handle" : excerpt(handle);
    const message = `edges[${rival.at}] leaves ${nameOf(source)} by ${by} too, and the loop would undo it; use another handle`;
    report(`edges[${at}].source_handle`, "BAD_LOOP", message, id);
  }
}

/** Whether plain edges lead from one node to another. */
function reaches(
  children: ReadonlyMap<number, readonly Link[]>,
  from: number,
  to: number,
): boolean {
  const reached = new Set([from]);
  for (const index of reached) {
    if (index === to) return true;
    for (const { target } of children.get(index) ?? []) reached.add(target);
  }
  return false;
}
