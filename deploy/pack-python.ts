// `npm run pack:python`: makes dist/pawl_sdk-<version>-py3-none-any.whl, for Python 3.11 or newer.
import { mkdirSync, mkdtempSync, readFileSync, renameSync, rmSync } from "node:fs";
import { join, relative } from "node:path";
import { explain, StartFault } from "./leave-with.ts";
import { pythonEnvironment, runToEnd } from "./python.ts";
import { ROOT } from "./settings.ts";

/** The advice for a person without Python. */
export const PYTHON_ADVICE = "install Python 3.11 or newer from https://www.python.org";
const HOME = join(ROOT, "clients", "python");

/** Where the wheel will be. */
function wheelOf(folder: string): string {
  const project = readFileSync(join(HOME, "pyproject.toml"), "utf8");
  const version = /^version = "([^"]+)"$/m.exec(project)?.[1] ?? "";
  return join(folder, `pawl_sdk-${version}-py3-none-any.whl`);
}

/** Packs pawl-sdk into `folder`; returns the path of the wheel. @throws StartFault without Python, Error with what the build printed */
export async function packPython(folder = join(ROOT, "dist")): Promise<string> {
  const python = await pythonEnvironment();
  if (python.kind === "missing") throw new StartFault(python.why, PYTHON_ADVICE);
  mkdirSync(folder, { recursive: true });
  // A reader of an older wheel, or another pack at the same time, never meets half a file.
  const draft = mkdtempSync(join(folder, "pack-"));
  try {
    const args = ["-m", "hatchling", "build", "-t", "wheel", "-d", draft];
    const { code, output } = await runToEnd(python.path, args, { cwd: HOME });
    if (code !== 0) throw new Error(`the wheel could not be built:\n${output}`);
    renameSync(wheelOf(draft), wheelOf(folder));
  } finally {
    rmSync(draft, { recursive: true, force: true });
  }
  return wheelOf(folder);
}

if (import.meta.main) {
  try {
    const wheel = await packPython();
    process.stdout.write(
      `${relative(ROOT, wheel)}\nInstall it in an environment of yours: pip install ${wheel}\n`,
    );
  } catch (error) {
    explain(error, "The package could not be built");
    process.exitCode = 1;
  }
}
