import * as fc from "fast-check";
import { expect, test } from "vitest";
import { play, scenarios } from "../../test/arbitrary-run.ts";
import { RUN } from "../../test/toy-run.ts";
import { copyState } from "./copy.ts";
import { apply, fold } from "./fold.ts";
import { writeSnapshot } from "./snapshot.ts";
import { newRunState } from "./state.ts";

fc.configureGlobal({ seed: 1 });

test("a copy of the state after any event and its original fold apart: neither changes the other (S2.35, X5)", () => {
  fc.assert(
    fc.property(scenarios(8, { fatal: true }), fc.integer(), (scenario, seed) => {
      const { run } = play(scenario, seed);
      const { graph } = run.state;
      const whole = writeSnapshot(fold(RUN, graph, run.events));
      const state = newRunState(RUN, graph);
      const copies = run.events.map((event) => {
        apply(state, event);
        return { copy: copyState(state), text: writeSnapshot(state) };
      });
      for (const [at, { copy, text }] of copies.entries()) {
        expect(writeSnapshot(copy), `after ${at + 1}`).toBe(text);
        for (const event of run.events.slice(at + 1)) apply(copy, event);
        expect(writeSnapshot(copy), `from ${at + 1}`).toBe(whole);
      }
      expect(writeSnapshot(state)).toBe(whole);
    }),
    { numRuns: 60 },
  );
});
