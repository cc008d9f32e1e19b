// npm run handler-faults [-- --times 50] [--only kill,stop,cut,executor] [--seed 0] [--lanes 8]
//
// Handler processes in Python make effects while the process is killed, frozen past every limit or cut off, or its host is killed. Exits with 1
// if an effect was lost or doubled, or a run is stuck.
import { writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { startPrivatePostgres } from "../support/postgres.ts";
import { FAULT_NAMES } from "./faults.ts";
import { repeatFault, summary } from "./handler-faults.ts";
import { pythonOrFail } from "./programs.ts";
import type { Verdict } from "./trial.ts";
import { startWorld } from "./world.ts";

const { values } = parseArgs({
  options: {
    times: { type: "string", default: "50" },
    only: { type: "string", default: FAULT_NAMES.join(",") },
    seed: { type: "string", default: "0" },
    lanes: { type: "string", default: "8" },
  },
});
const [times, seed, lanes] = [Number(values.times), Number(values.seed), Number(values.lanes)];
const wanted = values.only.split(",");
const chosen = FAULT_NAMES.filter((name) => wanted.includes(name));
const isWhole = [times, seed, lanes].every((number) => Number.isInteger(number) && number >= 0);
if (!isWhole || times < 1 || lanes < 1 || lanes > 32 || chosen.length !== wanted.length) {
  console.error(
    `--times, --seed and --lanes (at most 32) are whole numbers, --only is some of ${FAULT_NAMES.join(",")}`,
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
    let done = 0;
    const onRound = (round: readonly Verdict[]): void => {
      done += round.length;
      const unknown = round.filter(({ kind }) => kind === "effect unknown").length;
      print(`${fault}: ${done} of ${times}, ${unknown} of these ${round.length} effect_unknown`);
    };
    verdicts.push(...(await repeatFault(world, fault, { times, seed, onRound })));
  }
  const { line, faults } = await summary(world, verdicts);
  for (const fault of faults) print(fault);
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
