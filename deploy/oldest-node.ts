// The oldest Node that our packages promise to run on, fetched through npm into .toolchain. The race it survives: two callers at once. Each
// installs under a draft name of its own, and the first rename counts.
import { existsSync, mkdirSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { runToEnd } from "./python.ts";
import { ROOT } from "./settings.ts";

const VERSION = "22.23.3";
const FLAGS = "--ignore-scripts --no-audit --no-fund --no-package-lock --loglevel=error".split(" ");

/** The path of its program. @throws Error with what npm printed */
export async function oldestNode(): Promise<string> {
  const isAppleSilicon = process.platform === "darwin" && process.arch === "arm64";
  // As in bootstrap.mjs, which fetches the Node that we run on.
  const name = `${isAppleSilicon ? "node-bin" : "node"}-${process.platform}-${process.arch}`;
  const folder = join(ROOT, ".toolchain", `node-${VERSION}`);
  const program = join(folder, "node_modules", name, "bin", "node");
  if (existsSync(program)) return program;
  const draft = `${folder}-${process.pid}.draft`;
  mkdirSync(draft, { recursive: true });
  try {
    writeFileSync(join(draft, "package.json"), '{"private":true}\n');
    const args = ["install", "--prefix", draft, ...FLAGS, `${name}@${VERSION}`];
    const { code, output } = await runToEnd("npm", args, { cwd: draft });
    if (code !== 0) throw new Error(`npm could not fetch Node ${VERSION}:\n${output}`);
    renameSync(draft, folder);
  } catch (error) {
    if (!existsSync(program)) throw error;
  } finally {
    rmSync(draft, { recursive: true, force: true });
  }
  return program;
}
