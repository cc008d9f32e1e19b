// The programs under test of the SDKs of this repository: handler processes and clients that watch. Each has a command, or a reason why this
// machine cannot run it.
import { mkdirSync, renameSync } from "node:fs";
import { join } from "node:path";
import { findGo, goEnv } from "@pawl/deploy/go.ts";
import { pythonEnvironment, runToEnd } from "@pawl/deploy/python.ts";
import type { TestContext } from "vitest";
import { skipWithout } from "../../support/toolchain.ts";
import { ROOT } from "../../tidy/sources.ts";

/** How a program is started. */
export interface ProgramCommand {
  readonly command: readonly string[];
  readonly env: Readonly<Record<string, string>>;
}

export type SdkProgram =
  | ({ readonly kind: "found" } & ProgramCommand)
  | { readonly kind: "missing"; readonly why: string };

const typescript = (file: string) => async (): Promise<SdkProgram> => {
  const program = join(ROOT, "test", "handler-kit", "programs", file);
  return { kind: "found", command: [process.execPath, program], env: {} };
};

const python =
  (file: string, ...args: readonly string[]) =>
  async (): Promise<SdkProgram> => {
    const found = await pythonEnvironment();
    if (found.kind === "missing") return found;
    const folder = join(ROOT, "clients", "python");
    const env = { PYTHONPATH: join(folder, "src"), PYTHONDONTWRITEBYTECODE: "1" };
    return { kind: "found", command: [found.path, join(folder, file), ...args], env };
  };

/** Builds a command of the Go module. */
const go = (name: string) => async (): Promise<SdkProgram> => {
  const found = findGo();
  if (found.kind === "missing") return found;
  const folder = join(ROOT, ".toolchain");
  mkdirSync(folder, { recursive: true });
  const program = join(folder, name);
  // Another run may build it at the same time, or run it.
  const draft = `${program}-${process.pid}.draft`;
  const built = await runToEnd(found.path, ["build", "-o", draft, `./${name}`], {
    cwd: join(ROOT, "clients", "go"),
    env: goEnv(),
  });
  if (built.code !== 0) throw new Error(`go build failed:\n${built.output}`);
  renameSync(draft, program);
  return { kind: "found", command: [program], env: {} };
};

type Programs = Readonly<Record<string, () => Promise<SdkProgram>>>;

/** Handler processes by SDK. */
export const HANDLERS: Programs = {
  TypeScript: typescript("typescript.ts"),
  Python: python("conformance.py"),
  Go: go("conformance"),
};

/** Clients that watch, by SDK. Python has two. */
export const WATCHERS: Programs = {
  TypeScript: typescript("typescript-watch.ts"),
  Python: python("conformance_watch.py"),
  "Python async": python("conformance_watch.py", "--async"),
  Go: go("conformance-watch"),
};

/** The program of an SDK, or a skip of the test with the reason. */
export async function sdkOrSkip(
  find: () => Promise<SdkProgram>,
  context: Pick<TestContext, "skip">,
): Promise<ProgramCommand> {
  const program = await find();
  return program.kind === "found" ? program : skipWithout(context, program.why);
}
