// Builds the console when its output is missing or older than what it is made from.
import { spawn } from "node:child_process";
import { existsSync, readdirSync, statSync } from "node:fs";
import { join } from "node:path";
import type { LogFile } from "./logbook.ts";
import { ROOT } from "./settings.ts";

const WEB = join(ROOT, "clients", "web");
const SOURCES = [
  "clients/web/src",
  "clients/web/index.html",
  "clients/web/vite.config.ts",
  "clients/web/package.json",
  "clients/ts/src",
  "proto/gen/ts",
  "services/core/src/definition",
  "services/core/src/log",
].map((path) => join(ROOT, path));

/** How it went. */
export type ConsoleBuild = "current" | "built" | "failed";

/** A console that cannot be built is no reason not to start: the API works without it. */
export async function buildConsole(log: LogFile): Promise<ConsoleBuild> {
  const built = join(WEB, "dist", "index.html");
  if (existsSync(built) && newestMs(SOURCES) <= statSync(built).mtimeMs) return "current";
  const vite = join(WEB, "node_modules", ".bin", "vite");
  const child = spawn(vite, ["build"], { cwd: WEB, stdio: ["ignore", "pipe", "pipe"] });
  child.stdout.on("data", (chunk: Buffer) => log.write(chunk.toString()));
  child.stderr.on("data", (chunk: Buffer) => log.write(chunk.toString()));
  const code = await new Promise<number | null>((resolve) => {
    child.once("error", () => resolve(1));
    child.once("close", resolve);
  });
  return code === 0 ? "built" : "failed";
}

function newestMs(paths: readonly string[]): number {
  let newest = 0;
  for (const path of paths) {
    if (!existsSync(path)) continue;
    const found = statSync(path);
    const inside = found.isDirectory() ? readdirSync(path).map((name) => join(path, name)) : [];
    newest = Math.max(newest, found.mtimeMs, newestMs(inside));
  }
  return newest;
}
