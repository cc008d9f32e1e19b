// What is written in plain English already, and stays so: words.test.ts holds these to docs/contributing/style.md.
// A folder is added by one line once it is rewritten; a folder of several rooms may replace the lines of its rooms.

/** Folders and files whose comments and prose follow the style; a folder ends with a slash. */
export const CLEAN: readonly string[] = [
  "docs/",
  "README.md",
  "ARCHITECTURE.md",
  "CONTRIBUTING.md",
  "services/decisions/README.md",
  "services/core/README.md",
  "services/platform/README.md",
  "services/scheduler/README.md",
  "services/executor/README.md",
  "services/gateway/README.md",
  "clients/cli/README.md",
  "clients/ts/README.md",
  "clients/web/README.md",
  "deploy/README.md",
  "proto/README.md",
  "test/README.md",
  "proto/pawl/v1/",
  "proto/pawl/errors/",
  "services/core/src/data/",
  "services/core/src/definition/",
  "services/core/src/explain/",
  "services/core/src/fault/",
  "services/core/src/name/",
  "services/core/src/policy/",
  "services/executor/src/checks/",
  "services/executor/src/egress/",
  "services/executor/src/llm/",
  "services/executor/src/sources/",
  "services/platform/src/config/",
  "services/platform/src/contract/",
  "services/platform/src/wake/",
  "test/tidy/docs/",
  "services/executor/src/",
  "services/core/src/data/",
  "services/core/src/definition/",
  "services/core/src/explain/",
  "services/core/src/fault/",
  "services/core/src/name/",
  "services/core/src/policy/",
  "services/platform/src/config/",
  "services/platform/src/contract/",
  "services/platform/src/db/",
  "services/platform/src/lifecycle/",
  "services/platform/src/rpc/",
  "services/platform/src/telemetry/",
  "services/platform/src/wake/",
  "services/platform/src/wire/",
];

/** Documents whose sentences may still be longer than thirty words; none is added. */
export const LONG_SENTENCES: readonly string[] = ["docs/operations/hard-use.md"];

/** Whether a path is among them. */
export const isClean = (path: string): boolean =>
  CLEAN.some((start) => path === start || (start.endsWith("/") && path.startsWith(start)));
