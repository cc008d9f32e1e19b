// The kit notices: a program that breaks one rule fails the case that names it. Mutants mostly wait, so several run at once.
import { fileURLToPath } from "node:url";
import { beforeAll, expect, test } from "vitest";
import { GROUPS } from "./catalogue.ts";
import { Mailbox } from "./mailbox.ts";
import { FAULTS } from "./mutants.ts";
import { runCases } from "./run-cases.ts";

const PROGRAM = fileURLToPath(new URL("programs/typescript.ts", import.meta.url));

beforeAll(() => {
  // What a mutant withholds never comes: there is no reason to wait long for it.
  Mailbox.patienceMs = 2_500;
});

test.concurrent.each(FAULTS.map((fault) => [fault.name, fault] as const))(
  "a process fails if %s",
  async (_name, { caught, missed, rule, mutant }) => {
    const [verdict, ...others] = await runCases({
      command: [process.execPath, PROGRAM],
      choice: { names: [caught], groups: [] },
      mutant,
    });
    expect(others).toEqual([]);
    expect(verdict).toMatchObject({ name: caught, rule });
    expect(verdict?.failure?.expected).toMatch(missed);
  },
);

test("every rule of a process that has a case has a mutant", () => {
  const named = new Set(GROUPS.flatMap(({ cases }) => cases.map(({ rule }) => rule)));
  const ofProcess = [...named].filter((rule) => /^[PQ]/.test(rule));
  const broken = new Set(FAULTS.map(({ rule }) => rule));
  expect(ofProcess.filter((rule) => !broken.has(rule))).toEqual([]);
});
