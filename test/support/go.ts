// Go for tests: commands in a module, and a module as a proxy serves it. Without Go the tests say that they are skipped, and why; in CI they fail.
import { spawn } from "node:child_process";
import { findGo, goEnv } from "@pawl/deploy/go.ts";
import { GO_MODULE, packGo } from "@pawl/deploy/pack-go.ts";
import type { TestContext } from "vitest";
import { skipWithout } from "./toolchain.ts";

type Env = Readonly<Record<string, string>>;

/** Runs a Go command; its output is the answer. @throws Error with the output when it fails */
type RunGo = (cwd: string, args: readonly string[], env?: Env) => Promise<string>;

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

/** The packed module: the version that its proxy serves, and the environment in which Go uses it. Other modules come from the configured proxy. */
export async function packModule(
  runGo: RunGo,
  folder: string,
): Promise<{ readonly version: string; readonly env: Env }> {
  const { url, version } = packGo(folder);
  const configured = (await runGo(folder, ["env", "GOPROXY"])).trim();
  return { version, env: { GOPROXY: `${url},${configured}`, GONOSUMDB: GO_MODULE } };
}
