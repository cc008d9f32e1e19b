// A test that needs a toolchain which this machine does not have. CI has every toolchain and skips nothing, so there it fails.
import type { TestContext } from "vitest";

/** Whether this is a run that must not skip: `.ci/run` sets CI. */
export const mustNotSkip = (): boolean => !["", "0", "false"].includes(process.env["CI"] ?? "");

/** Skips the test with the reason. @throws Error in CI */
export function skipWithout({ skip }: Pick<TestContext, "skip">, why: string): never {
  const advice = `${why}; \`npm run toolchain\` provides what can be fetched`;
  if (mustNotSkip()) throw new Error(`CI skips no test: ${advice}`);
  // The default reporter shows no reason of a skip.
  console.warn(`SKIPPED: ${advice}`);
  return skip(advice);
}
