// Builds the console when its sources are newer than what was built, as the gateway serves what is in clients/web/dist.

import { spawn } from "node:child_process";
import { readdir, stat } from "node:fs/promises";
import { createRequire } from "node:module";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

const WEB = fileURLToPath(new URL("../../clients/web/", import.meta.url));
const SOURCES = [join(WEB, "src"), join(WEB, "../ts/src"), join(WEB, "index.html")];

/** Makes sure that clients/web/dist is the console of these sources. */
export async function buildConsole(): Promise<void> {
  const builtMs = await changedMs(join(WEB, "dist/index.html"));
  const sourcesMs = await Promise.all(SOURCES.map(newestMs));
  if (sourcesMs.every((ms) => ms < builtMs)) return;
  const vite = dirname(createRequire(join(WEB, "package.json")).resolve("vite/package.json"));
  const build = spawn(process.execPath, [join(vite, "bin/vite.js"), "build", WEB], {
    stdio: ["ignore", "ignore", "inherit"],
    env: { ...process.env, NODE_ENV: "production" },
  });
  await new Promise<void>((resolve, reject) => {
    build.once("error", reject);
    build.once("exit", (code) =>
      code === 0 ? resolve() : reject(new Error(`vite build ended with ${code}`)),
    );
  });
}

async function newestMs(path: string): Promise<number> {
  if (!(await stat(path)).isDirectory()) return changedMs(path);
  const names = await readdir(path, { recursive: true });
  return Math.max(...(await Promise.all(names.map((name) => changedMs(join(path, name))))));
}

async function changedMs(path: string): Promise<number> {
  try {
    return (await stat(path)).mtimeMs;
  } catch {
    return 0;
  }
}
