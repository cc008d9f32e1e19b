// The clients of every language keep the behaviours of a watch, and the cases cover the page. The languages run at the same time: 10 s, and
// the time in which Go builds its program.
import { rmSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { beforeAll, expect, test, vi } from "vitest";
import { temporaryFolder } from "../../support/folder.ts";
import { goOrSkip } from "../../support/go.ts";
import { pythonOrSkip } from "../../support/python.ts";
import { PACKAGE } from "../../support/python-source.ts";
import { ROOT } from "../../tidy/sources.ts";
import { runWatchCases, WATCH_GROUPS } from "./catalogue.ts";
import { rulesOfParity } from "./rules-of-parity.ts";

const CASES = WATCH_GROUPS.flatMap(({ cases }) => cases);
const LIMIT_MS = 180_000;

/** Behaviours without a case. */
const UNSEEN: Readonly<Record<string, string>> = {
  W18: "the form of JSON is of each language; the program prints a line of its own",
};

beforeAll(() => {
  // The Python programs import the package from its sources.
  vi.stubEnv("PYTHONPATH", join(PACKAGE, "src"));
});

async function mustPass(command: readonly string[]): Promise<void> {
  const verdicts = await runWatchCases({ command, choice: { names: [], groups: [] } });
  expect(verdicts.filter(({ failure }) => failure !== undefined)).toEqual([]);
  expect(verdicts.length).toBe(CASES.length);
}

test.concurrent(
  "the TypeScript client keeps every behaviour of a watch",
  () => {
    const program = fileURLToPath(new URL("../programs/typescript-watch.ts", import.meta.url));
    return mustPass([process.execPath, program]);
  },
  LIMIT_MS,
);

test.concurrent.for([
  ["Client", []],
  ["AsyncClient", ["--async"]],
] as const)(
  "the Python %s keeps every behaviour of a watch",
  { timeout: LIMIT_MS },
  async ([, args], context) => {
    const python = await pythonOrSkip(context);
    await mustPass([python, join(PACKAGE, "conformance_watch.py"), ...args]);
  },
);

test.concurrent(
  "the Go client keeps every behaviour of a watch",
  async (context) => {
    const go = goOrSkip(context);
    const folder = temporaryFolder("go-watch");
    context.onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
    const program = join(folder, "watch");
    await go(join(ROOT, "clients", "go"), ["build", "-o", program, "./conformance-watch"]);
    await mustPass([program]);
  },
  LIMIT_MS,
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
