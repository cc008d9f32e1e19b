import { defineConfig } from "vitest/config";

export default defineConfig({
  test: {
    include: [
      "services/**/*.test.ts",
      "clients/**/*.test.ts",
      "deploy/**/*.test.ts",
      "test/**/*.test.ts",
    ],
    // isolated-vm cannot share a process with Node's startup snapshot; forks also keep real processes apart.
    pool: "forks",
    execArgv: ["--no-node-snapshot"],
    // Most of a test is waiting for processes to start and sockets to answer: two at a time halve the suite on two cores.
    maxWorkers: 2,
    globalSetup: ["test/support/global-setup.ts"],
    testTimeout: 60_000,
    hookTimeout: 120_000,
  },
});
