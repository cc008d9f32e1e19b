// npm run handler-faults [-- --times 50] [--at-most-once 10] [--only kill,stop,cut,executor] [--seed 0] [--lanes 8]
//
// Handler processes in Python make effects while the process is killed, frozen past every limit or cut off, or its host is killed. Each fault
// strikes `times` idempotent effects, which must be committed exactly once in a run that completes, and `at-most-once` effects that may also
// end as effect_unknown. Exits with 1 if one ends otherwise: lost, doubled or stuck.
import { writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { startPrivatePostgres } from "../support/postgres.ts";
import { FAULT_NAMES } from "./faults.ts";
import { countsLine, plansOf, repeatFault, summary } from "./handler-faults.ts";
import { pythonOrFail } from "./programs.ts";
import type { Verdict } from "./trial.ts";
import { startWorld } from "./world.ts";

const { values } = parseArgs({
  options: {
    times: { type: "string", default: "50" },
    "at-most-once": { type: "string", default: "10" },
    only: { type: "string", default: FAULT_NAMES.join(",") },
    seed: { type: "string", default: "0" },
    lanes: { type: "string", default: "8" },
  },
});
const [seed, lanes] = [Number(values.seed), Number(values.lanes)];
const counts = { idempotent: Number(values.times), at_most_once: Number(values["at-most-once"]) };
const wanted = values.only.split(",");
const chosen = FAULT_NAMES.filter((name) => wanted.includes(name));
const numbers = [seed, lanes, ...Object.values(counts)];
const isWhole = numbers.every((number) => Number.isInteger(number) && number >= 0);
if (
  !isWhole ||
  counts.idempotent < 1 ||
  lanes < 1 ||
  lanes > 32 ||
  chosen.length !== wanted.length
) {
  console.error(
    `--times, --at-most-once, --seed and --lanes (at most 32) are whole numbers, --only is some of ${FAULT_NAMES.join(",")}`,
  );
  process.exit(2);
}

const began = performance.now();
const print = (line: string): void => {
  const seconds = ((performance.now() - began) / 1_000).toFixed(0).padStart(4);
  console.log(`${seconds} s  ${line}`);
};
const program = await pythonOrFail();
const postgres = await startPrivatePostgres();
const world = await startWorld({ program, lanes, databaseUrl: postgres.url });
const verdicts: Verdict[] = [];
let isWell = false;
try {
  for (const fault of chosen) {
    const plans = plansOf(fault, counts, seed);
    let done = 0;
    const onRound = (round: readonly Verdict[]): void => {
      done += round.length;
      print(`${fault}: ${done} of ${plans.length}`);
    };
    const ended = await repeatFault(world, fault, plans, onRound);
    print(`${fault}: ${countsLine(ended)}`);
    verdicts.push(...ended);
  }
  const { line, faults } = await summary(world, verdicts);
  for (const fault of faults) print(fault);
  print(`all: ${countsLine(verdicts)}`);
  print(line);
  isWell = faults.length === 0;
} finally {
  if (!isWell) {
    const file = join(tmpdir(), `pawl-handler-faults-${seed}.log`);
    writeFileSync(file, world.logs());
    print(`the output of all processes is in ${file}`);
  }
  await world.stop();
  await postgres.stop();
}
process.exitCode = isWell ? 0 : 1;
