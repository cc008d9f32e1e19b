// npm run chaos [-- --smoke] [--seed 1] [--only F3,F5] [--runs 40] [--out folder]
//
// Two of each service and a PostgreSQL of their own, under load, while processes are killed, frozen and cut off from one another.
// `--only recovery` measures the time of recovery instead, `--runs` times each: after the death of an executor, of a scheduler and of the
// database.
// Exits with 1 if a run was lost, done twice or left undone, if a scheduler accepted a stale claim, or if no fault was effective.
import { mkdirSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { chaos } from "./chaos.ts";
import { faultCatalogue } from "./faults/catalogue.ts";
import { hasFakeTime } from "./faults/database-clock.ts";
import { recoveryFigures, tellRecovery } from "./recovery-times.ts";
import { faultsOf, outcomeLine, tellReport } from "./report.ts";

const RECOVERY = "recovery";
const RECOVERY_ROUNDS = 5;
const RUNS = { smoke: 38, full: 400 } as const;

const { values } = parseArgs({
  options: {
    smoke: { type: "boolean", default: false },
    seed: { type: "string", default: String(Date.now() % 1_000_000) },
    only: { type: "string", default: "" },
    runs: { type: "string" },
    out: { type: "string" },
  },
});
const size = values.smoke ? "smoke" : "full";
const seed = Number(values.seed);
const runs = Number(values.runs ?? RUNS[size]);
const all = faultCatalogue();
const only = values.only === "" ? all.map(({ id }) => id) : values.only.split(",");
const unknown = only.filter((id) => id !== RECOVERY && all.every((fault) => fault.id !== id));
if (!Number.isInteger(seed) || !Number.isInteger(runs) || runs < 1 || unknown.length > 0) {
  console.error(
    `--seed and --runs are whole numbers, --only is some of ${all.map(({ id }) => id).join(",")}, or recovery`,
  );
  process.exit(2);
}

const print = (line: string): void => console.log(line);
if (values.only === RECOVERY) {
  const figures = await recoveryFigures(Number(values.runs ?? RECOVERY_ROUNDS), print);
  process.exit(tellRecovery(figures, print) ? 0 : 1);
}

if (!hasFakeTime()) print("F37 is left out: this host has no libfaketime");
const out = values.out ?? join(tmpdir(), `pawl-chaos-${seed}`);
mkdirSync(out, { recursive: true });
const faultLog = join(out, "fault.jsonl");
writeFileSync(faultLog, "");
const began = performance.now();
const stamp = (): string => `${((performance.now() - began) / 1_000).toFixed(0).padStart(4)} s`;

print(`seed ${seed}, ${size}: ${only.join(", ")}; hits in ${faultLog}`);
const { outcomes, logs } = await chaos({
  faults: all.filter(({ id }) => only.includes(id)),
  size,
  seed,
  runs,
  faultLog,
  onProgress: (text) => print(`${stamp()}  ${text}`),
  // Printed at once, so that a run that is ended early has shown its findings.
  onOutcome: (outcome) => {
    for (const line of [outcomeLine(outcome), ...faultsOf(outcome)]) print(`${stamp()}  ${line}`);
  },
});
writeFileSync(join(out, "services.log"), logs);
print("");
const isWell = tellReport(outcomes, print);
if (!isWell)
  print(
    `say it again with --seed ${seed} --only ${only.join(",")}; what the services printed: ${out}`,
  );
process.exitCode = isWell ? 0 : 1;
