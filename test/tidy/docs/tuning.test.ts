// The tables of docs/operations/tuning.md: each row names a setting with its real default, and a proof that a person can run.
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { LIMITS } from "@pawl/core/data/limits";
import { DEFAULT_RETRY } from "@pawl/core/policy/retry";
import { expect, test } from "vitest";
import { variables } from "../env-example.ts";
import { ROOT, trackedSources } from "../sources.ts";
import { metricTable } from "./metrics.ts";

const page = readFileSync(join(ROOT, "docs/operations/tuning.md"), "utf8");
const plain = (text: string): string => text.replaceAll("`", "").trim();

/** The rows of the tables that end with a proof. */
const rows = page
  .split("\n")
  .map((line) => line.split("|").slice(1, -1).map(plain))
  .filter((cells) => cells.length === 6 && cells[0] !== "change" && !/^-+$/.test(cells[0] ?? ""));

const DEFINITION: Readonly<Record<string, number>> = {
  retry: DEFAULT_RETRY.attempts,
  timeout_ms: LIMITS.nodeTimeoutMs,
  deadline_ms: LIMITS.runDeadlineMs,
  priority: 0,
};

/** The defaults of a setting in all places that have it. */
function defaultsOf(name: string): ReadonlySet<string> {
  if (name in DEFINITION) return new Set([String(DEFINITION[name])]);
  const all = Object.values(variables()).flat();
  return new Set(all.filter((one) => one.name === name).map((one) => one.default ?? ""));
}

test("every setting of the tuning page has the default that its row says (S4.43)", () => {
  const settings = rows.filter(([name = ""]) => /^(PAWL_\w+|[a-z_]+)$/.test(name));
  expect(settings.length).toBeGreaterThan(10);
  for (const [name = "", preset = ""] of settings)
    expect([name, [...defaultsOf(name)]]).toEqual([name, [preset]]);
});

test("every row of the tuning page names a proof that exists, and every metric of it exists (S4.43)", () => {
  const tests = trackedSources((path) => path.endsWith(".test.ts")).map(({ path }) => path);
  const bench = readFileSync(join(ROOT, "test/bench/main.ts"), "utf8");
  for (const row of rows) {
    const proof = row.at(-1) ?? "";
    const [, file] = /^npm test -- (\S+)$/.exec(proof) ?? [];
    const [, load] = /^(?:PAWL_\w+=\S+ )?npm run bench -- (\w+)$/.exec(proof) ?? [];
    const isProof =
      tests.some((path) => file !== undefined && path.startsWith(file)) ||
      (load !== undefined && new RegExp(`^  ${load},$`, "m").test(bench)) ||
      proof === "npm run chaos -- --smoke";
    expect([row[0], isProof ? proof : undefined]).toEqual([row[0], proof]);
  }
  const known = metricTable();
  for (const [name] of page.matchAll(/\bpawl_\w+/g)) expect(known).toContain(`\`${name}\``);
});
