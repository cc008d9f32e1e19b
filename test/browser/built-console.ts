// Builds the console if its sources are newer than the last build, because the gateway serves clients/web/dist. The race it survives:
// several test files need the console at once. One of them builds it in another folder and moves it into place. The others wait, so that no
// test loses the page that it reads.

import { spawn } from "node:child_process";
import { readFileSync } from "node:fs";
import { mkdir, readdir, rename, rm, stat, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { until } from "../support/until.ts";

const ROOT = fileURLToPath(new URL("../../", import.meta.url));
const WEB = join(ROOT, "clients/web");
const DIST = join(WEB, "dist");
const LOCK = join(ROOT, ".pawl/console.lock");
const BUILD_MS = 110_000;
const SOURCES = ["clients/web/src", "clients/web/index.html", "clients/ts/src", "proto/gen/ts"];

/** Makes sure that clients/web/dist is the console of these sources. */
export async function buildConsole(): Promise<void> {
  if (await isCurrent()) return;
  await mkdir(join(ROOT, ".pawl"), { recursive: true });
  await until(isOurTurn, { what: "the test file that builds the console", timeoutMs: BUILD_MS });
  try {
    if (await isCurrent()) return;
    const draft = join(ROOT, `.pawl/console-${process.pid}`);
    await build(draft);
    await rm(DIST, { recursive: true, force: true });
    await rename(draft, DIST);
  } finally {
    await rm(LOCK, { force: true });
  }
}

/** Takes the lock; one whose holder is gone is taken away first. */
async function isOurTurn(): Promise<boolean> {
  try {
    await writeFile(LOCK, String(process.pid), { flag: "wx" });
    return true;
  } catch {
    const holder = Number(readFileSync(LOCK, "utf8"));
    if (holder > 0 && !isAlive(holder)) await rm(LOCK, { force: true });
    return false;
  }
}

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    return false;
  }
}

async function build(into: string): Promise<void> {
  const args = ["build", WEB, "--outDir", into, "--emptyOutDir", "--logLevel", "warn"];
  const vite = spawn(join(WEB, "node_modules/.bin/vite"), args, {
    stdio: ["ignore", "ignore", "inherit"],
    env: { ...process.env, NODE_ENV: "production" },
  });
  await new Promise<void>((resolve, reject) => {
    vite.once("error", reject);
    vite.once("exit", (code) =>
      code === 0 ? resolve() : reject(new Error(`vite build ended with ${code}`)),
    );
  });
}

async function isCurrent(): Promise<boolean> {
  const builtMs = await changedMs(join(DIST, "index.html"));
  const sourcesMs = await Promise.all(SOURCES.map((path) => newestMs(join(ROOT, path))));
  return sourcesMs.every((ms) => ms < builtMs);
}

async function newestMs(path: string): Promise<number> {
  if (!(await stat(path)).isDirectory()) return changedMs(path);
  const names = await readdir(path, { recursive: true });
  return Math.max(...(await Promise.all(names.map((name) => changedMs(join(path, name))))));
}

/** When a file was last written; 0 when it is not there. */
async function changedMs(path: string): Promise<number> {
  try {
    return (await stat(path)).mtimeMs;
  } catch {
    return 0;
  }
}
