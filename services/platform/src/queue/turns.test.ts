import * as fc from "fast-check";
import { expect, test } from "vitest";
import { Turns } from "./turns.ts";

fc.configureGlobal({ seed: 1 });

const job = (share: string, priority = 0) => ({ nodeType: "work", priority, share });

/** Jobs as they are taken: by rank. */
function order(ranked: readonly (readonly [string, number])[]): string[] {
  return ranked.toSorted((a, b) => a[1] - b[1]).map(([name]) => name);
}

test("a share with few jobs is served in turn with one that has many", () => {
  const turns = new Turns();
  const many = Array.from({ length: 50_000 }, (_, at): [string, number] => [
    `many${at}`,
    turns.rankOf(job("many")),
  ]);
  // The others arrive after a hundred jobs were served.
  turns.served("work", many[99]?.[1] ?? 0);
  const few = Array.from({ length: 10 }, (_, at): [string, number] => [
    `few${at}`,
    turns.rankOf(job("few")),
  ]);
  const next = order([...many.slice(100), ...few]).slice(0, 20);
  expect(next.filter((name) => name.startsWith("few"))).toHaveLength(10);
});

test("jobs of one share keep their order, and no turn reaches into another priority (X16)", () => {
  fc.assert(
    fc.property(
      fc.array(fc.tuple(fc.nat(3), fc.integer({ min: -1000, max: 1000 }), fc.nat(5))),
      (asked) => {
        const turns = new Turns();
        const ranks = asked.map(([share, priority, served]) => {
          const rank = turns.rankOf(job(`s${share}`, priority));
          if (served === 0) turns.served("work", rank);
          return { share, priority, rank };
        });
        for (const [at, a] of ranks.entries())
          for (const b of ranks.slice(at + 1)) {
            if (a.priority === b.priority && a.share === b.share)
              expect(b.rank).toBeGreaterThan(a.rank);
            if (a.priority < b.priority) expect(a.rank).toBeLessThan(b.rank);
          }
      },
    ),
  );
});
