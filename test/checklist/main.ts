// Lists the promised behaviours that no test names: `npm run checklist [-- --seed S1] [-- --strict S1,S3]`.
// Informational by itself; with --strict the named seeds must be complete.
import { parseArgs } from "node:util";
import { coverageOf, testSources } from "./coverage.ts";
import type { SeedCoverage } from "./coverage.ts";
import { WAIVERS } from "./waivers.ts";

const { values } = parseArgs({
  options: { seed: { type: "string" }, strict: { type: "string" } },
});
const { seeds, faults } = coverageOf(testSources());
const chosen = seeds.filter(({ seed }) => values.seed === undefined || seed === values.seed);

for (const { seed, missing } of chosen) {
  if (missing.length > 0) console.log(`\n${seed}: ${missing.length} without a test`);
  for (const { id, text } of missing) console.log(`  ${id.padEnd(6)} ${text}`);
}
for (const [id, reason] of Object.entries(WAIVERS)) {
  if (chosen.some(({ seed }) => id.startsWith(`${seed}.`)))
    console.log(`\nwaived ${id}: ${reason}`);
}
console.log(`\n${chosen.map(line).join("\n")}`);
for (const fault of faults) console.log(`fault: ${fault}`);

const strict = values.strict?.split(",") ?? [];
const open = seeds.filter(({ seed, missing }) => strict.includes(seed) && missing.length > 0);
if (open.length > 0) console.log(`incomplete: ${open.map(({ seed }) => seed).join(", ")}`);
process.exitCode = open.length > 0 || (strict.length > 0 && faults.length > 0) ? 1 : 0;

function line({ seed, total, named, waived, missing }: SeedCoverage): string {
  return `${seed}: ${named} of ${total} named, ${waived} waived, ${missing.length} missing`;
}
