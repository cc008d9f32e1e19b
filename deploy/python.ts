// The Python environment of this checkout: a virtual environment in .toolchain with the pins of clients/python/requirements-dev.txt. It
// serves `npm run gen` and the tests of pawl-sdk. Race: two callers build at once. Each builds under its own draft name, and the first
// rename counts. The stamp is part of the name, so a changed requirement makes another environment.
import { spawn } from "node:child_process";
import { createHash } from "node:crypto";
import { existsSync, mkdirSync, readFileSync, renameSync, rmSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

const ROOT = fileURLToPath(new URL("..", import.meta.url));
const REQUIREMENTS = join(ROOT, "clients", "python", "requirements-dev.txt");
const TOOLCHAINS = join(ROOT, ".toolchain");
const CANDIDATES = ["python3", "python3.14", "python3.13", "python3.12", "python3.11", "python"];
const PROBE =
  "import sys, venv, ensurepip; print('%d.%d' % sys.version_info[:2]); sys.exit(sys.version_info < (3, 11))";

/** A usable Python, or why there is none. */
type Python =
  | { readonly kind: "found"; readonly path: string; readonly version: string }
  | { readonly kind: "missing"; readonly why: string };

/** How a program ended, with all that it printed. */
type Ended = { readonly code: number; readonly output: string };

/** Runs a program to its end. The signal ends it. */
export function runToEnd(
  command: string,
  args: readonly string[],
  options: {
    readonly cwd?: string;
    readonly env?: NodeJS.ProcessEnv;
    readonly signal?: AbortSignal;
  } = {},
): Promise<Ended> {
  return new Promise((resolve) => {
    const child = spawn(command, args, {
      cwd: ROOT,
      ...options,
      stdio: ["ignore", "pipe", "pipe"],
    });
    let output = "";
    child.stdout.on("data", (chunk: Buffer) => (output += chunk.toString()));
    child.stderr.on("data", (chunk: Buffer) => (output += chunk.toString()));
    child.once("error", (error) => resolve({ code: 127, output: error.message }));
    child.once("close", (code) => resolve({ code: code ?? 1, output }));
  });
}

/** The Python of this machine: 3.11 or newer, with venv and pip. */
export async function findPython(): Promise<Python> {
  for (const path of CANDIDATES) {
    const { code, output } = await runToEnd(path, ["-c", PROBE]);
    if (code === 0) return { kind: "found", path, version: output.trim() };
  }
  return { kind: "missing", why: "no Python >= 3.11 with venv and pip is on the path" };
}

/** The program `name` of a virtual environment. */
export const programOf = (environment: string, name: string): string =>
  process.platform === "win32"
    ? join(environment, "Scripts", `${name}.exe`)
    : join(environment, "bin", name);

/** Makes a virtual environment with packages in it. The signal ends that. @throws Error with the output of the step that failed */
export async function makeEnvironment(
  python: string,
  folder: string,
  packages: readonly string[],
  signal?: AbortSignal,
): Promise<void> {
  const options = signal === undefined ? {} : { signal };
  const made = await runToEnd(python, ["-m", "venv", folder], options);
  if (made.code !== 0) throw new Error(`python -m venv failed:\n${made.output}`);
  const pip = ["-m", "pip", "install", "--quiet", "--disable-pip-version-check", ...packages];
  const installed = await runToEnd(programOf(folder, "python"), pip, options);
  if (installed.code !== 0) throw new Error(`pip install failed:\n${installed.output}`);
}

/** The interpreter of the environment of this checkout; makes the environment if it is not there. The signal ends that. */
export async function pythonEnvironment(signal?: AbortSignal): Promise<Python> {
  const python = await findPython();
  if (python.kind === "missing") return python;
  const stamp = createHash("sha256").update(readFileSync(REQUIREMENTS)).digest("hex").slice(0, 12);
  const folder = join(TOOLCHAINS, `python-${python.version}-${stamp}`);
  const path = programOf(folder, "python");
  if (!existsSync(path)) {
    // Scripts of an environment name their interpreter by its path, so callers start tools with `python -m` only.
    const draft = `${folder}-${process.pid}.draft`;
    mkdirSync(TOOLCHAINS, { recursive: true });
    try {
      await makeEnvironment(python.path, draft, ["-r", REQUIREMENTS], signal);
      renameSync(draft, folder);
    } catch (error) {
      rmSync(draft, { recursive: true, force: true });
      if (!existsSync(path)) return { kind: "missing", why: String(error) };
    }
  }
  return { kind: "found", path, version: python.version };
}
