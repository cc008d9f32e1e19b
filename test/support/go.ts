// Go for tests: commands in a module, and a module as a proxy serves it. Without Go the tests say that they are skipped, and why; in CI they fail.
import { spawn } from "node:child_process";
import { mkdirSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { pathToFileURL } from "node:url";
import { findGo, goEnv } from "@pawl/deploy/go.ts";
import type { TestContext } from "vitest";
import { ROOT } from "../tidy/sources.ts";
import { skipWithout } from "./toolchain.ts";

/** The module of the Go SDK. */
export const GO_MODULE = "pawl.dev/sdk/go";
const FOLDER = "clients/go";

type Env = Readonly<Record<string, string>>;

/** Runs a Go command; its output is the answer. @throws Error with the output when it fails */
export type RunGo = (cwd: string, args: readonly string[], env?: Env) => Promise<string>;

/** Go, or a skip of the test with the reason. */
export function goOrSkip(context: Pick<TestContext, "skip">): RunGo {
  const go = findGo();
  if (go.kind === "missing") return skipWithout(context, go.why);
  return (cwd, args, env = {}) => run(go.path, args, cwd, { ...goEnv(), ...env });
}

/** Runs a program to its end. @throws Error with the output when it fails */
export function run(
  command: string,
  args: readonly string[],
  cwd: string,
  env: NodeJS.ProcessEnv,
): Promise<string> {
  return new Promise((resolve, reject) => {
    const child = spawn(command, args, { cwd, env, stdio: ["ignore", "pipe", "pipe"] });
    let output = "";
    child.stdout.on("data", (chunk: Buffer) => (output += chunk.toString()));
    child.stderr.on("data", (chunk: Buffer) => (output += chunk.toString()));
    child.once("error", reject);
    child.once("close", (code) => {
      if (code === 0) resolve(output);
      else reject(new Error(`${command} ${args.join(" ")} ended with ${code}\n${output}`));
    });
  });
}

/** A proxy of modules in a folder: the version that it serves, and the environment in which Go uses it. */
export type ModuleProxy = { readonly version: string; readonly env: Env };

/**
 * Packs the tracked files of clients/go, with changes that are not committed, as a module proxy serves them. The version names the content,
 * so that no cache of Go answers with an older one. Other modules come from the configured proxy.
 */
export async function packModule(runGo: RunGo, folder: string): Promise<ModuleProxy> {
  const git = (args: readonly string[], env: Env = {}) =>
    run("git", args, ROOT, { ...process.env, ...env });
  const index = { GIT_INDEX_FILE: join(folder, "index") };
  await git(["read-tree", "HEAD"], index);
  await git(["add", FOLDER], index);
  const tree = (await git(["write-tree", `--prefix=${FOLDER}/`], index)).trim();
  const version = `v0.0.0-20260101000000-${tree.slice(0, 12)}`;
  const at = (name: string) => join(folder, "proxy", GO_MODULE, "@v", name);
  mkdirSync(dirname(at("list")), { recursive: true });
  writeFileSync(at("list"), "");
  writeFileSync(
    at(`${version}.info`),
    JSON.stringify({ Version: version, Time: "2026-01-01T00:00:00Z" }),
  );
  writeFileSync(at(`${version}.mod`), await git(["cat-file", "blob", `${tree}:go.mod`]));
  const prefix = `--prefix=${GO_MODULE}@${version}/`;
  await git(["archive", "--format=zip", prefix, "-o", at(`${version}.zip`), tree]);
  const configured = (await runGo(folder, ["env", "GOPROXY"])).trim();
  const own = pathToFileURL(join(folder, "proxy")).href;
  return { version, env: { GOPROXY: `${own},${configured}`, GONOSUMDB: GO_MODULE } };
}
