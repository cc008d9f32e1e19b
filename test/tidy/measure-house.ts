// `npm run house [-- <commit>]`: the figures of docs/contributing/house.md, of the files as they are or of a commit.
// `npm run house -- --walk [<checkout>]`: the files that one run passes through.
import { spawnSync } from "node:child_process";
import { mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { isCode, measureHouse } from "./house.ts";
import { ROOT, trackedSources, type Source } from "./sources.ts";
import { printWalks } from "./walk.ts";

/** The text files of a commit, through a folder that is removed again. */
function sourcesAt(commit: string): readonly Source[] {
  const folder = mkdtempSync(join(tmpdir(), "pawl-house-"));
  try {
    const archive = join(folder, "tree.tar");
    run("git", ["archive", "--format=tar", `--output=${archive}`, commit]);
    run("tar", ["-xf", archive, "-C", folder]);
    return readdirSync(folder, { recursive: true, withFileTypes: true })
      .filter((entry) => entry.isFile() && isCode(entry.name))
      .map((entry) => {
        const file = join(entry.parentPath, entry.name);
        return { path: file.slice(folder.length + 1), text: readFileSync(file, "utf8") };
      });
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

function run(command: string, args: readonly string[]): void {
  const done = spawnSync(command, args, { cwd: ROOT, encoding: "utf8" });
  if (done.status !== 0) throw new Error(`${command} failed: ${done.stderr}`);
}

const [first, second] = process.argv.slice(2);
if (first === "--walk") await printWalks(second);
else {
  const sources = first === undefined ? trackedSources() : sourcesAt(first);
  for (const { name, value } of measureHouse(sources)) console.log(`${name}: ${value}`);
}
