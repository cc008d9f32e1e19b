// The SDKs keep every rule, and the cases cover the page. A program mostly waits for messages, so the three run beside each other: about
// 36 s on two busy cores.
import { expect, test } from "vitest";
import { GROUPS } from "./catalogue.ts";
import { HANDLERS, sdkOrSkip } from "./programs/sdks.ts";
import { rulesOfPage } from "./rules-of-page.ts";
import { runCases } from "./run-cases.ts";

const CASES = GROUPS.flatMap(({ cases }) => cases);

/** Rules of a process without a case of their own. */
const UNSEEN: Readonly<Record<string, string>> = {
  Q7: "the host keeps it",
  P17: "a state is shown inside of the process",
  P18: "the case of P1 proves it, where functions block",
};

test.concurrent.for(Object.entries(HANDLERS))(
  "the %s program keeps every rule of the handler protocol",
  { timeout: 180_000 },
  async ([, find], context) => {
    const program = await sdkOrSkip(find, context);
    const verdicts = await runCases({ ...program, choice: { names: [], groups: [] } });
    const failed = verdicts.filter(({ failure }) => failure !== undefined);
    context.expect(failed).toEqual([]);
    context.expect(verdicts.length).toBe(CASES.length);
  },
);

test("every case names a rule of the page, and every rule of a process has a case", () => {
  const rules = rulesOfPage();
  const named = new Set(CASES.map(({ rule }) => rule));
  expect([...named].filter((rule) => !rules.has(rule))).toEqual([]);
  const ofProcess = [...rules.keys()].filter((rule) => /^[PQ]/.test(rule));
  expect(ofProcess.length).toBeGreaterThan(20);
  expect(ofProcess.filter((rule) => !named.has(rule))).toEqual(Object.keys(UNSEEN));
});

test("cases have names of their own", () => {
  const names = CASES.map(({ name }) => name);
  expect(new Set(names).size).toBe(names.length);
});
