// The Python environment for tests: found or made once, kept in .toolchain. Without Python the tests say that they are skipped, and why; in CI they
// fail.
import { pythonEnvironment, runToEnd } from "@pawl/deploy/python.ts";
import { beforeAll, expect, type TestContext } from "vitest";
import { PACKAGE, sourceEnv } from "./python-source.ts";
import { skipWithout } from "./toolchain.ts";

/** The first test file of a fresh checkout makes the environment: it fetches packages, which is no part of a test's own time. */
const MAKE_MS = 300_000;
beforeAll(() => pythonEnvironment(), MAKE_MS);

/** The interpreter with everything that the package and its tests need, or a skip of the test with the reason. */
export async function pythonOrSkip(context: Pick<TestContext, "skip">): Promise<string> {
  const python = await pythonEnvironment();
  return python.kind === "missing" ? skipWithout(context, python.why) : python.path;
}

/** Runs a module of the environment in the package's folder, and expects that it ends well. */
export async function runModule(python: string, ...args: readonly string[]): Promise<string> {
  const { code, output } = await runToEnd(python, ["-m", ...args], {
    cwd: PACKAGE,
    env: sourceEnv(),
  });
  expect(code, output).toBe(0);
  return output;
}
