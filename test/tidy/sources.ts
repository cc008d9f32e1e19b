// The tracked files, read once, for every tidy rule.
import { spawnSync } from "node:child_process";
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

/** The repository. */
export const ROOT = fileURLToPath(new URL("../..", import.meta.url));

/** A tracked file: its path from the root, with slashes, and its text. */
export type Source = { readonly path: string; readonly text: string };

const BINARY = /\.(png|jpg|gif|ico|woff2?|gz|bin)$/;

/** Every tracked path that matches; a file deleted but not yet committed counts no more. */
export function trackedPaths(matches: (path: string) => boolean = () => true): readonly string[] {
  const listed = spawnSync("git", ["ls-files", "-z"], { cwd: ROOT, encoding: "utf8" });
  if (listed.status !== 0) throw new Error(`git ls-files failed: ${listed.stderr}`);
  const paths = listed.stdout.split("\0").filter((path) => path !== "");
  return paths.filter((path) => matches(path) && existsSync(join(ROOT, path)));
}

/** Reads tracked text files. */
export function trackedSources(matches: (path: string) => boolean = () => true): Source[] {
  return trackedPaths((path) => matches(path) && !BINARY.test(path)).map((path) => ({
    path,
    text: readFileSync(join(ROOT, path), "utf8"),
  }));
}

/** TypeScript in any form. */
export const isTypeScript = (path: string): boolean => /\.(ts|tsx|mts)$/.test(path);

const FOREIGN: readonly string[] = [
  "proto/gen/",
  "proto/vendor/",
  "clients/go/gen/",
  "clients/python/src/pawl_sdk/_gen/",
];

/** Written by a generator or by another project: their style is not ours to judge. */
export const isForeign = (path: string): boolean =>
  FOREIGN.some((folder) => path.startsWith(folder)) || path === "pnpm-lock.yaml";

/** Tests and what serves only them: `x.test.ts`, folders called test, and a helper as `x.fixture.ts`. */
export const isTest = (path: string): boolean =>
  /(^|\/)test\//.test(path) || /(\.test|[.-]fixture)\.tsx?$/.test(path);
