// The SDKs keep every rule, and the cases cover the page. A program mostly waits for messages, so the three run beside each other: about
// 36 s on two busy cores.
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { ROOT } from "../tidy/sources.ts";
import { GROUPS } from "./catalogue.ts";
import { HANDLERS, sdkOrSkip } from "./programs/sdks.ts";
import { PROOFS } from "./proofs.ts";
import { rulesOfPage } from "./rules-of-page.ts";
import { runCases } from "./run-cases.ts";

/** The cases of one program take about 30 s. A machine that is busy with other tests takes up to three times as long. */
const ALL_CASES_MS_MAX = 120_000;

const CASES = GROUPS.flatMap(({ cases }) => cases);

test.concurrent.for(Object.entries(HANDLERS))(
  "the %s program keeps every rule of the handler protocol, in less than two minutes",
  { timeout: 180_000 },
  async ([, find], context) => {
    const program = await sdkOrSkip(find, context);
    const verdicts = await runCases({ ...program, choice: { names: [], groups: [] } });
    const failed = verdicts.filter(({ failure }) => failure !== undefined);
    context.expect(failed).toEqual([]);
    context.expect(verdicts.length).toBe(CASES.length);
    const ms = verdicts.reduce((sum, verdict) => sum + verdict.ms, 0);
    context.expect(ms, "the clock of the kit").toBeLessThan(ALL_CASES_MS_MAX);
  },
);

test("every case names a rule of the page, and every rule has a case or a test", () => {
  const rules = rulesOfPage();
  const named = new Set(CASES.map(({ rule }) => rule));
  expect([...named].filter((rule) => !rules.has(rule))).toEqual([]);
  expect(rules.size).toBeGreaterThan(30);
  expect([...rules.keys()].filter((rule) => !named.has(rule) && !(rule in PROOFS))).toEqual([]);
  expect(Object.keys(PROOFS).filter((rule) => !rules.has(rule))).toEqual([]);
});

test.each(Object.entries(PROOFS))("the tests that prove %s exist", (_rule, proofs) => {
  for (const { file, title } of proofs)
    expect(readFileSync(join(ROOT, file), "utf8"), file).toContain(title);
});

test("cases have names of their own", () => {
  const names = CASES.map(({ name }) => name);
  expect(new Set(names).size).toBe(names.length);
});
