// A short form of `npm run handler-faults`: three trials of each fault. It takes about 40 s.
import { expect, onTestFailed, test } from "vitest";
import { pythonOrSkip } from "../support/python.ts";
import { FAULT_NAMES } from "./faults.ts";
import { repeatFault, summary } from "./handler-faults.ts";
import { pythonProgram } from "./programs.ts";
import { startWorld } from "./world.ts";

const TIMES = 3;
/** Trials begin at the point `begun`, so that a handler is inside its effect in all of them. */
const SEED = 6;

test(
  "an effect of a handler in Python is neither lost nor doubled when its process is killed, frozen or cut off, or its host is killed",
  { timeout: 180_000 },
  async (context) => {
    const program = pythonProgram(await pythonOrSkip(context));
    const world = await startWorld({ program, lanes: TIMES });
    onTestFailed(() => console.error(world.logs()));
    try {
      const verdicts = [];
      for (const fault of FAULT_NAMES)
        verdicts.push(
          ...(await repeatFault(world, fault, {
            times: TIMES,
            seed: SEED,
            onRound: () => undefined,
          })),
        );
      const { line, faults } = await summary(world, verdicts);
      expect(faults).toEqual([]);
      expect(line).toBe(`lost 0 / doubled 0 / stuck 0 of ${TIMES * FAULT_NAMES.length}`);
    } finally {
      await world.stop();
    }
  },
);
