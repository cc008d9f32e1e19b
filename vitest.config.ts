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

/** Files of a project share processes: one of its own costs a file a second of CPU, because the engine's modules load again. */
const project = (name: string, include: string[], more: object = {}, env = {}) => ({
  extends: true as const,
  test: {
    name,
    include,
    isolate: false,
    globalSetup: ["test/support/global-setup.ts"],
    setupFiles: ["test/support/check-queries.ts"],
    env: { SERVICES_OF_TESTS: "bundled", ...env },
    ...more,
  },
});

/** Flow tests in which every node passes through pg-boss: a few in the suite, all of them by `npm run test:queued`. */
const QUEUED_SMOKE = ["shapes", "failure", "repeat"].map((name) => `test/flow/${name}.test.ts`);
const queued = (include: string[]) => project("queued", include, {}, { PAWL_HAND_OFF: "false" });

export default defineConfig(({ mode }) => ({
  test: {
    // isolated-vm cannot share a process with Node's startup snapshot; forks also keep real processes apart.
    pool: "forks",
    execArgv: ["--no-node-snapshot"],
    // Most of a test is waiting: ten files of wire and crash used the processor for 77 of 208 s. So two cores carry four files at a time.
    maxWorkers: 4,
    testTimeout: 60_000,
    hookTimeout: 120_000,
    // Vitest takes projects by name. Units are last and short, so no process waits long for the others at the end.
    projects:
      mode === "queued"
        ? [queued(["test/flow/*.test.ts"])]
        : [
            project("alone", ALONE, { isolate: true }),
            queued(QUEUED_SMOKE),
            project("system", ["deploy/**/*.test.ts", "test/**/*.test.ts"]),
            project("units", UNITS, { exclude: ["**/node_modules/**", ...ALONE] }),
          ],
  },
}));
