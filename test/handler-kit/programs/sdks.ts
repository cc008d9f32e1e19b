// The programs under test of the three SDKs of this repository: the command of each, or why this machine cannot run it.
import { mkdirSync, renameSync } from "node:fs";
import { join } from "node:path";
import { findGo, goEnv } from "@pawl/deploy/go.ts";
import { pythonEnvironment, runToEnd } from "@pawl/deploy/python.ts";
import type { TestContext } from "vitest";
import { ROOT } from "../../tidy/sources.ts";

/** How a program is started. */
export interface ProgramCommand {
  readonly command: readonly string[];
  readonly env: Readonly<Record<string, string>>;
}

export type SdkProgram =
  | ({ readonly kind: "found" } & ProgramCommand)
  | { readonly kind: "missing"; readonly why: string };

async function typescript(): Promise<SdkProgram> {
  const program = join(ROOT, "test", "handler-kit", "programs", "typescript.ts");
  return { kind: "found", command: [process.execPath, program], env: {} };
}

async function python(): Promise<SdkProgram> {
  const found = await pythonEnvironment();
  if (found.kind === "missing") return found;
  const folder = join(ROOT, "clients", "python");
  const env = { PYTHONPATH: join(folder, "src"), PYTHONDONTWRITEBYTECODE: "1" };
  return { kind: "found", command: [found.path, join(folder, "conformance.py")], env };
}

async function go(): Promise<SdkProgram> {
  const found = findGo();
  if (found.kind === "missing") return found;
  const folder = join(ROOT, ".toolchain");
  mkdirSync(folder, { recursive: true });
  const program = join(folder, "conformance");
  // Another run may build it at the same time, or run it.
  const draft = `${program}-${process.pid}.draft`;
  const built = await runToEnd(found.path, ["build", "-o", draft, "./conformance"], {
    cwd: join(ROOT, "clients", "go"),
    env: goEnv(),
  });
  if (built.code !== 0) throw new Error(`go build failed:\n${built.output}`);
  renameSync(draft, program);
  return { kind: "found", command: [program], env: {} };
}

/** The SDKs by language. */
export const SDKS = { TypeScript: typescript, Python: python, Go: go } as const;
export type Language = keyof typeof SDKS;
export const LANGUAGES = ["TypeScript", "Python", "Go"] as const satisfies readonly Language[];

/** The program of a language, or a skip of the test with the reason. */
export async function sdkOrSkip(
  language: Language,
  { skip }: TestContext,
): Promise<ProgramCommand> {
  const program = await SDKS[language]();
  if (program.kind === "found") return program;
  // The default reporter shows no reason of a skip.
  const why = `the program in ${language} is skipped: ${program.why}`;
  console.warn(why);
  return skip(why);
}
