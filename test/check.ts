// All checks that do not run the product: `npm run check [-- <part of a step's name> …]`.
import { breakingStep, generatedStep } from "./check/contracts.ts";
import { toolStep } from "./check/step.ts";
import type { Step, Verdict } from "./check/step.ts";

const STEPS: readonly Step[] = [
  toolStep("oxfmt", "oxfmt", ["--check"]),
  toolStep("tsc", "tsc", ["--noEmit"]),
  toolStep("oxlint", "oxlint", ["--type-aware"]),
  toolStep("buf lint", "buf", ["lint"]),
  // Vendored contracts are kept byte for byte, so only ours are formatted.
  toolStep("buf format", "buf", ["format", "--diff", "--exit-code", "--path", "proto/pawl"]),
  breakingStep,
  generatedStep,
  toolStep("rooms and tidy", "vitest", ["run", "test/tidy"]),
];

type Row = { readonly name: string; readonly verdict: Verdict; readonly seconds: number };

const MARKS = { passed: "ok  ", skipped: "skip", failed: "FAIL" } as const;

function describe({ name, verdict, seconds }: Row): string {
  const note = verdict.kind === "failed" ? "" : (verdict.note ?? "");
  const time = `${seconds.toFixed(1)} s`.padStart(7);
  return `${MARKS[verdict.kind]} ${name.padEnd(16)} ${time}  ${note}`.trimEnd();
}

async function measure(step: Step): Promise<Row> {
  const startedAt = Date.now();
  const verdict = await step.run().catch((error: unknown): Verdict => {
    return { kind: "failed", output: String(error) };
  });
  return { name: step.name, verdict, seconds: (Date.now() - startedAt) / 1000 };
}

const wanted = process.argv.slice(2);
const chosen = STEPS.filter(
  ({ name }) => wanted.length === 0 || wanted.some((part) => name.includes(part)),
);
const rows: Row[] = [];
for (const step of chosen) {
  const row = await measure(step);
  rows.push(row);
  if (row.verdict.kind === "failed") console.log(`--- ${row.name}\n${row.verdict.output.trim()}\n`);
}
const failed = rows.filter(({ verdict }) => verdict.kind === "failed").length;
console.log(rows.map(describe).join("\n"));
console.log(failed === 0 ? "check passed" : `check failed: ${failed} of ${rows.length} steps`);
process.exitCode = failed === 0 ? 0 : 1;
