// Where a real Chromium is: the system's own, else the one in the package @sparticuz/chromium, unpacked once into .pawl/. The race
// it survives: two test runs unpack at once; each fills a folder of its own and the first rename wins.

import { spawn } from "node:child_process";
import { createReadStream, createWriteStream, existsSync } from "node:fs";
import { chmod, mkdir, mkdtemp, readFile, rename, rm } from "node:fs/promises";
import { dirname, join } from "node:path";
import { pipeline } from "node:stream/promises";
import { fileURLToPath } from "node:url";
import { createBrotliDecompress } from "node:zlib";

const SYSTEM_PATHS = ["/usr/bin/chromium", "/usr/bin/chromium-browser", "/usr/bin/google-chrome"];
const KEPT = fileURLToPath(new URL("../../.pawl/chromium", import.meta.url));
const PACKAGE = join(dirname(fileURLToPath(import.meta.resolve("@sparticuz/chromium"))), "..");

/** What to launch, and what its environment needs beyond ours. */
interface ChromiumBinary {
  readonly path: string;
  readonly env: Readonly<Record<string, string>>;
}

/** Finds a Chromium, unpacking the package's one if the system has none. */
export async function chromiumBinary(): Promise<ChromiumBinary> {
  const system = SYSTEM_PATHS.find((path) => existsSync(path));
  if (system !== undefined) return { path: system, env: {} };
  const folder = await unpacked();
  const env: Record<string, string> = {};
  if (!hasSystemNss()) env["LD_LIBRARY_PATH"] = join(folder, "al2023", "lib");
  if (!existsSync("/etc/fonts/fonts.conf")) env["FONTCONFIG_PATH"] = join(folder, "fonts", "fonts");
  return { path: join(folder, "chromium"), env };
}

async function unpacked(): Promise<string> {
  // A package of ours to read: its manifest has a version.
  const manifest = JSON.parse(await readFile(join(PACKAGE, "package.json"), "utf8")) as {
    version: string;
  };
  const folder = join(KEPT, manifest.version);
  if (existsSync(folder)) return folder;
  await mkdir(KEPT, { recursive: true });
  const draft = await mkdtemp(join(KEPT, "draft-"));
  const binary = join(draft, "chromium");
  await Promise.all([
    pipeline(source("chromium.br"), createBrotliDecompress(), createWriteStream(binary)),
    untar("al2023.tar.br", join(draft, "al2023")),
    untar("fonts.tar.br", join(draft, "fonts")),
  ]);
  await chmod(binary, 0o755);
  try {
    await rename(draft, folder);
  } catch (error) {
    if (!existsSync(folder)) throw error;
    await rm(draft, { recursive: true });
  }
  return folder;
}

const source = (name: string): NodeJS.ReadableStream =>
  createReadStream(join(PACKAGE, "bin", name));

async function untar(name: string, into: string): Promise<void> {
  await mkdir(into);
  const tar = spawn("tar", ["-xf", "-", "-C", into], { stdio: ["pipe", "ignore", "inherit"] });
  const ended = new Promise<void>((resolve, reject) => {
    tar.once("error", reject);
    tar.once("exit", (code) =>
      code === 0 ? resolve() : reject(new Error(`tar of ${name} ended with ${code}`)),
    );
  });
  // tar may exit before the padding after the archive is written. Its exit code says whether it had everything.
  const fed = pipeline(source(name), createBrotliDecompress(), tar.stdin).catch(() => undefined);
  await Promise.all([fed, ended]);
}

function hasSystemNss(): boolean {
  const folders = ["/lib/x86_64-linux-gnu", "/usr/lib/x86_64-linux-gnu", "/usr/lib64", "/usr/lib"];
  return folders.some((folder) => existsSync(join(folder, "libnss3.so")));
}
