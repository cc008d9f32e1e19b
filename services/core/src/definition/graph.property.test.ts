import * as fc from "fast-check";
import { expect, test } from "vitest";
import { parseSavedDefinition } from "./parse.ts";

fc.configureGlobal({ seed: 1 });

/** Reachability by brute force: a graph has a cycle when some node reaches itself. */
function hasCycle(count: number, edges: readonly (readonly [number, number])[]): boolean {
  const reaches = Array.from({ length: count }, () => new Set<number>());
  for (let round = 0; round < count; round++)
    for (const [source, target] of edges) {
      reaches[source]?.add(target);
      for (const further of reaches[target] ?? []) reaches[source]?.add(further);
    }
  return reaches.some((reached, index) => reached.has(index));
}

const graphs = fc.integer({ min: 1, max: 9 }).chain((count) =>
  fc.record({
    count: fc.constant(count),
    edges: fc.array(fc.tuple(fc.nat({ max: count - 1 }), fc.nat({ max: count - 1 })), {
      maxLength: 14,
    }),
  }),
);

test("a definition is refused for a cycle exactly when it has one, and the path is a cycle of its edges (S1.11, S1.12)", () => {
  fc.assert(
    fc.property(graphs, ({ count, edges }) => {
      const parsed = parseSavedDefinition(
        JSON.stringify({
          // The start has no edges here, so that any edge among the others is legal.
          nodes: [
            { id: "s", type: "start" },
            ...Array.from({ length: count }, (_, index) => ({ id: `n${index}`, type: "task" })),
          ],
          edges: edges.map(([source, target]) => ({ source: `n${source}`, target: `n${target}` })),
        }),
      );
      const cyclic = hasCycle(count, edges);
      expect(parsed.ok).toBe(!cyclic);
      if (parsed.ok) {
        for (const node of parsed.graph.nodes)
          for (const { source } of node.incoming)
            expect(parsed.graph.nodes[source]?.wave).toBeLessThan(node.wave);
        return;
      }
      const path =
        /cycle: (.*)$/.exec(parsed.violations[0]?.message ?? "")?.[1]?.split(" -> ") ?? [];
      expect(path.length).toBeGreaterThan(1);
      expect(path[0]).toBe(path.at(-1));
      const links = new Set(edges.map(([source, target]) => `n${source}>n${target}`));
      for (let at = 1; at < path.length; at++)
        expect(links).toContain(`${path[at - 1]}>${path[at]}`);
    }),
    { numRuns: 600 },
  );
});
