// Builds the console if its output is missing or older than its sources.
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

type ConsoleBuild = "current" | "built" | "failed";

/** A failed build does not stop the start: the API works without the console. */
export async function buildConsole(log: LogFile): Promise<ConsoleBuild> {
  const built = join(WEB, "dist", "index.html");
  if (existsSync(built) && newestMs(SOURCES) <= statSync(built).mtimeMs) return "current";
  const vite = join(WEB, "node_modules", ".bin", "vite");
  const child = spawn(vite, ["build"], { cwd: WEB, stdio: ["ignore", "pipe", "pipe"] });
  for (const stream of [child.stdout, child.stderr])
    stream.on("data", (chunk: Buffer) => log.write(chunk.toString()));
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
