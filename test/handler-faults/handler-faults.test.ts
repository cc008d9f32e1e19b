// A short form of `npm run handler-faults`: three trials of each fault. It takes about 25 s.
import { expect, onTestFailed, test } from "vitest";
import { pythonOrSkip } from "../support/python.ts";
import { FAULT_NAMES, type FaultName } from "./faults.ts";
import { repeatFault, summary } from "./handler-faults.ts";
import { pythonProgram } from "./programs.ts";
import type { Point } from "./receiver.ts";
import type { Plan, Verdict } from "./trial.ts";
import { startWorld } from "./world.ts";

const LANES = 3;

/** Where the two idempotent trials of a fault are struck: the one on the event loop, and the one in a thread. */
const STRUCK: Readonly<Record<FaultName, readonly [Point, Point]>> = {
  kill: ["inside", "made"],
  stop: ["made", "begun"],
  cut: ["begun", "inside"],
  executor: ["after", "inside"],
};

/** Two effects that must be committed exactly once, and one that happens at most once. */
const plansOf = (fault: FaultName): Plan[] => [
  { id: `${fault}-0`, effect: "idempotent", style: "async", point: STRUCK[fault][0] },
  { id: `${fault}-1`, effect: "idempotent", style: "plain", point: STRUCK[fault][1] },
  { id: `${fault}-2`, effect: "at_most_once", style: "plain", point: "inside" },
];

test(
  "an effect of a handler in Python is committed once, and its run completes, when its process is killed, frozen or cut off, or its host is killed",
  { timeout: 180_000 },
  async (context) => {
    const program = pythonProgram(await pythonOrSkip(context));
    const world = await startWorld({ program, lanes: LANES });
    onTestFailed(() => console.error(world.logs()));
    try {
      const verdicts: Verdict[] = [];
      for (const fault of FAULT_NAMES)
        verdicts.push(...(await repeatFault(world, fault, plansOf(fault))));
      const { line, faults } = await summary(world, verdicts);
      expect(faults).toEqual([]);
      expect(line).toBe(`lost 0 / doubled 0 / stuck 0 of ${LANES * FAULT_NAMES.length}`);
      const mustCommit = verdicts.filter(({ plan }) => plan.effect === "idempotent");
      expect(mustCommit.map(({ kind }) => kind)).toEqual(Array(8).fill("completed"));
      // A killed process never tells what its effect at most once did, and no other process repeats it.
      const killed = verdicts.find(({ plan }) => plan.id === "kill-2");
      expect(killed?.kind).toBe("effect unknown");
    } finally {
      await world.stop();
    }
  },
);
