// The three programs of the workflow polyglot-order, one for each language: the command that starts each, or why there is none.
import { mkdirSync, renameSync } from "node:fs";
import { join } from "node:path";
import { findGo, goEnv } from "../go.ts";
import { pythonEnvironment, runToEnd } from "../python.ts";
import { ROOT } from "../settings.ts";

const FOLDER = join(ROOT, "deploy", "examples", "handlers");
const TOOLCHAINS = join(ROOT, ".toolchain");

/** A command that starts a program, or why there is none. */
export type Prepared =
  | {
      readonly kind: "found";
      readonly command: readonly [string, ...string[]];
      readonly env: Readonly<Record<string, string>>;
    }
  | { readonly kind: "missing"; readonly why: string };

export interface Program {
  readonly language: string;
  /** The node type that it serves. */
  readonly type: string;
  /** Finds the toolchain, and builds the program if needed. The signal ends a build. */
  readonly prepare: (signal: AbortSignal) => Promise<Prepared>;
}

async function prepareTypeScript(): Promise<Prepared> {
  return { kind: "found", command: [process.execPath, join(FOLDER, "ts", "letter.ts")], env: {} };
}

async function preparePython(signal: AbortSignal): Promise<Prepared> {
  const python = await pythonEnvironment(signal);
  if (python.kind === "missing") return python;
  const env = {
    PYTHONPATH: join(ROOT, "clients", "python", "src"),
    PYTHONDONTWRITEBYTECODE: "1",
  };
  return { kind: "found", command: [python.path, join(FOLDER, "python", "fraud.py")], env };
}

async function prepareGo(signal: AbortSignal): Promise<Prepared> {
  const go = findGo();
  if (go.kind === "missing") return go;
  mkdirSync(TOOLCHAINS, { recursive: true });
  const program = join(TOOLCHAINS, "shop-handlers");
  // Another start may run the program, or build it at the same time.
  const draft = `${program}-${process.pid}.draft`;
  const options = { cwd: join(FOLDER, "go"), env: goEnv(), signal };
  const { code, output } = await runToEnd(go.path, ["build", "-o", draft, "."], options);
  if (code !== 0) return { kind: "missing", why: `go build failed: ${output.trim()}` };
  renameSync(draft, program);
  return { kind: "found", command: [program], env: {} };
}

export const PROGRAMS: readonly Program[] = [
  { language: "TypeScript", type: "shop.letter@1", prepare: prepareTypeScript },
  { language: "Python", type: "shop.fraud@1", prepare: preparePython },
  { language: "Go", type: "shop.price@1", prepare: prepareGo },
];
