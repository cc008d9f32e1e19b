// The tally that decides in CI: from the report of a real run of vitest.
import { spawnSync } from "node:child_process";
import { rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { temporaryFolder } from "../test/support/folder.ts";
import { ROOT } from "./settings.ts";

/** The tally of a suite with this text. */
function tallyOf(
  suite: string,
  checkCode = 0,
): { readonly code: number; readonly lines: string[] } {
  const folder = temporaryFolder("tally");
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  writeFileSync(join(folder, "one.test.mjs"), suite);
  const report = join(folder, "report.json");
  const vitest = join(ROOT, "node_modules", "vitest", "vitest.mjs");
  const { status } = spawnSync(
    process.execPath,
    [vitest, "run", "--globals", "--root", folder, "--reporter=json", `--outputFile=${report}`],
    { encoding: "utf8" },
  );
  const { status: code, stdout } = spawnSync(
    process.execPath,
    [join(ROOT, "deploy", "tally.mjs"), report, String(status), String(checkCode)],
    { encoding: "utf8" },
  );
  return { code: code ?? 1, lines: stdout.trim().split("\n") };
}

test("a suite without failures or skips passes", () => {
  const { code, lines } = tallyOf(`test("a", () => {});`);
  expect([code, lines.at(-1)]).toEqual([0, "1 passed, 0 failed"]);
  expect(lines.at(-2)).toMatch(/^0 skipped, \d+ s for the tests$/);
});

test("a skipped test is named and counts as failed", () => {
  const { code, lines } = tallyOf(
    `test("a", () => {}); test("without Go", ({ skip }) => skip("no Go"));`,
  );
  expect([code, lines.at(-1)]).toEqual([1, "1 passed, 1 failed"]);
  expect(lines.at(-2)).toMatch(/^1 skipped/);
  expect(lines[0]).toMatch(/^skipped, which CI does not allow: .*one\.test\.mjs: without Go$/);
});

test("failed tests, files that do not load and a failed check are counted", () => {
  const failing = tallyOf(`test("a", () => { throw new Error("no"); });`, 1);
  expect([failing.code, failing.lines.at(-1)]).toEqual([1, "0 passed, 2 failed"]);
  const broken = tallyOf(`throw new Error("no");`);
  expect([broken.code, broken.lines.at(-1)]).toEqual([1, "0 passed, 1 failed"]);
});
