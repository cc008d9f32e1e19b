// Any graph of glue nodes, with delays that end at the same moment: the scheduler fetches several waiting glue nodes of one run at once, and
// one of them may end, cancel or skip another. No tick may fail, each node ends once, and the run ends.

import { createMemoryStore } from "@pawl/platform/store/memory/store";
import * as fc from "fast-check";
import { expect, test } from "vitest";
import { turns } from "../../../../test/support/until.ts";
import { createEngine, saveGraph } from "../tick/tick.fixture.ts";

fc.configureGlobal({ seed: 1 });

const NODES = 9;
const DELAY_MS = 1_000;
const ENDED = /^node\.(completed|failed|skipped|cancelled|timed_out)$/;

const bad = { branches: [{ id: "yes", when: "ctx.input.missing > 1" }] };
const kinds = fc.constantFrom(
  { type: "noop" },
  { type: "delay", config: { delay_ms: DELAY_MS } },
  { type: "delay", config: { delay_ms: DELAY_MS } },
  { type: "condition", config: bad, error_handling: "fail_workflow" },
  { type: "condition", config: bad, error_handling: "continue" },
  { type: "map", config: { items: [1, 2], body: { type: "noop" } } },
);
const joins = fc.constantFrom({ join: "all" }, { join: "any" }, { join: "any", late: "cancel" });
const policies = fc.constantFrom("propagate", "skip", "substitute_default");

/** Nodes of which each follows one or two before it. */
const graphs = fc
  .array(fc.tuple(kinds, joins, policies, fc.nat(), fc.nat()), { minLength: 3, maxLength: NODES })
  .map((drawn) => ({
    nodes: drawn.map(([kind, join, policy], at) => ({
      id: `n${at}`,
      ...(at === 0 ? { type: "delay", config: { delay_ms: DELAY_MS } } : kind),
      ...(at === 0 ? {} : { ...join, on_parent_failure: policy }),
    })),
    edges: drawn.flatMap(([, , , ...parents], at) =>
      at === 0
        ? []
        : [...new Set(parents.map((each) => each % at))].map((from) => ({
            source: `n${from}`,
            target: `n${at}`,
          })),
    ),
  }));

test("glue nodes that wait for the same moment never fail a tick, whatever one of them does to the others (S1.40, S3.29, S3.33)", async () => {
  let fetchedTogether = 0;
  await fc.assert(
    fc.asyncProperty(graphs, async (graph) => {
      const clock = { now: 1_000_000 };
      const store = createMemoryStore({ now: () => clock.now });
      const engine = createEngine(store, () => clock.now, { completesGlue: true });
      const { runId } = await engine.start(await saveGraph(store, graph));
      const read = async () =>
        (await store.journal.load([{ runId, afterSeq: 0 }]))[0]?.events ?? [];
      for (let round = 0; round <= NODES; round += 1) {
        const known = (await read()).length;
        clock.now += DELAY_MS + 1;
        engine.loop.poll();
        await turns(4);
        await engine.loop.afterTick();
        const fresh = (await read()).slice(known);
        if (fresh.filter(({ type }) => ENDED.test(type)).length > 1) fetchedTogether += 1;
      }
      const events = await read();
      expect(engine.errors).toEqual([]);
      expect(events.at(-1)?.type).toMatch(/^run\.(completed|failed)$/);
      const ends = events.filter(({ type }) => ENDED.test(type));
      const keys = ends.map(({ nodeId, iteration }) => `${nodeId}/${iteration}`);
      expect(keys.length).toBe(new Set(keys).size);
    }),
    { numRuns: 300 },
  );
  expect(fetchedTogether).toBeGreaterThan(100);
});
