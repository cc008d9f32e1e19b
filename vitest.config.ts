import { defineConfig } from "vitest/config";

/** These measure their process, end it, or set what is the same for all of it. */
const ALONE = [
  "services/executor/src/sandbox/sandbox.test.ts",
  "services/gateway/src/outage.test.ts",
  "services/platform/src/lifecycle/*.test.ts",
  "services/platform/src/rpc/tracing.test.ts",
  "services/platform/src/telemetry/*.test.ts",
];
const UNITS = ["services/**/*.test.ts", "clients/**/*.test.ts"];
const GLOBAL_SETUP = ["test/support/global-setup.ts"];
const SETUP = ["test/support/check-queries.ts"];

/** Flow tests in which every node passes through pg-boss: a few in the suite, all of them by `npm run test:queued`. */
const QUEUED_SMOKE = ["shapes", "failure", "repeat"].map((name) => `test/flow/${name}.test.ts`);
const queued = (include: string[]) => ({
  extends: true as const,
  test: {
    name: "queued",
    include,
    env: { PAWL_HAND_OFF: "false" },
    globalSetup: GLOBAL_SETUP,
    setupFiles: SETUP,
  },
});

export default defineConfig(({ mode }) => ({
  test: {
    // isolated-vm cannot share a process with Node's startup snapshot; forks also keep real processes apart.
    pool: "forks",
    execArgv: ["--no-node-snapshot"],
    // Most of a test is waiting: ten files of wire and crash used the processor for 77 of 208 s. So two cores carry three files at a time.
    maxWorkers: 3,
    testTimeout: 60_000,
    hookTimeout: 120_000,
    projects:
      mode === "queued"
        ? [queued(["test/flow/*.test.ts"])]
        : [
            {
              extends: true,
              // A process of its own costs a file half a second, which most units do not last.
              test: {
                name: "units",
                include: UNITS,
                exclude: ["**/node_modules/**", ...ALONE],
                isolate: false,
                globalSetup: GLOBAL_SETUP,
                setupFiles: SETUP,
              },
            },
            {
              extends: true,
              test: {
                name: "alone",
                include: [...ALONE, "deploy/**/*.test.ts", "test/**/*.test.ts"],
                globalSetup: GLOBAL_SETUP,
                setupFiles: SETUP,
              },
            },
            queued(QUEUED_SMOKE),
          ],
  },
}));
