// The folders that are written in plain English. words.test.ts holds them to docs/contributing/style.md. Add a folder by one line once it
// is rewritten; a parent folder may replace the lines of its children.

/** Folders and files whose comments and prose follow the style; a folder ends with a slash. */
export const CLEAN: readonly string[] = [
  "docs/",
  "README.md",
  "ARCHITECTURE.md",
  "CONTRIBUTING.md",
  "services/core/",
  "services/decisions/README.md",
  "services/executor/",
  "services/gateway/",
  "services/platform/",
  "services/scheduler/",
  "clients/",
  "deploy/",
  "proto/README.md",
  "proto/pawl/",
  "test/",
];

/** The changelog uses no banned words. It may name files that do not exist any more, so it is not among the clean documents. */
export const CHANGELOG = "CHANGELOG.md";

/** Documents whose sentences may still be longer than thirty words; none is added. */
export const LONG_SENTENCES: readonly string[] = [CHANGELOG, "docs/operations/hard-use.md"];

/** Whether a path is among them. */
export const isClean = (path: string): boolean =>
  CLEAN.some((start) => path === start || (start.endsWith("/") && path.startsWith(start)));
