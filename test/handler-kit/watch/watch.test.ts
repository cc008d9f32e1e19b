// The clients of every language keep the behaviours of a watch, and the cases cover the page. The languages run at the same time: 10 s, and
// the time in which Go builds its program.
import { expect, test } from "vitest";
import { sdkOrSkip, WATCHERS } from "../programs/sdks.ts";
import { runWatchCases, WATCH_GROUPS } from "./catalogue.ts";
import { rulesOfParity } from "./rules-of-parity.ts";

const CASES = WATCH_GROUPS.flatMap(({ cases }) => cases);

/** Behaviours without a case. */
const UNSEEN: Readonly<Record<string, string>> = {
  W18: "the form of JSON is of each language; the program prints a line of its own",
  W20: "modes are not a watch of events; each client has a test of its own",
  W21: "callbacks are of each language; each client has a test of its own",
  W22: "callbacks are of each language; each client has a test of its own",
  W23: "the kit plays one run; each client has a test of its own with many",
};

test.concurrent.for(Object.entries(WATCHERS))(
  "the %s client keeps every behaviour of a watch",
  { timeout: 180_000 },
  async ([, find], context) => {
    const program = await sdkOrSkip(find, context);
    const verdicts = await runWatchCases({ ...program, choice: { names: [], groups: [] } });
    context.expect(verdicts.filter(({ failure }) => failure !== undefined)).toEqual([]);
    context.expect(verdicts.length).toBe(CASES.length);
  },
);

test("every case names a behaviour of the page, and every behaviour has a case", () => {
  const rules = [...rulesOfParity().keys()];
  const named = new Set(CASES.map(({ rule }) => rule));
  expect([...named].filter((rule) => !rules.includes(rule))).toEqual([]);
  expect(rules.length).toBeGreaterThan(15);
  expect(rules.filter((rule) => !named.has(rule))).toEqual(Object.keys(UNSEEN));
});

test("cases have names of their own", () => {
  const names = CASES.map(({ name }) => name);
  expect(new Set(names).size).toBe(names.length);
});
