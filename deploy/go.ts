// The Go of this machine: where it is, whether it is new enough, and the folders of its caches. go-toolchain.ts fetches it where it is missing.
import { spawnSync } from "node:child_process";
import { accessSync, constants } from "node:fs";
import { homedir } from "node:os";
import { join, resolve } from "node:path";

const ROOT = resolve(import.meta.dirname, "..");
/** The oldest minor version of Go 1 that the module in clients/go accepts. */
const MINOR_MIN = 25;
/** The version that `npm run toolchain` fetches, and its folder. */
export const FETCHED_VERSION = "1.26.8";
export const FETCHED_GO = join(ROOT, ".toolchain", `go-${FETCHED_VERSION}`);

/** Go, or why it cannot be used. */
export type Go =
  | { readonly kind: "found"; readonly path: string; readonly version: string }
  | { readonly kind: "missing"; readonly why: string };

/** Finds Go on the path, at its usual place, or where it was fetched to. */
export function findGo(): Go {
  let why = "it is not on the path";
  for (const path of ["go", "/usr/local/go/bin/go", join(FETCHED_GO, "bin", "go")]) {
    const { code, output } = runGo({ command: path, args: ["version"], cwd: ROOT, env: goEnv() });
    if (code !== 0) continue;
    const version = /go1\.(\d+)\S*/.exec(output);
    if (version === null) why = `${path} does not report a version: ${output.trim()}`;
    else if (Number(version[1]) < MINOR_MIN) why = `${path} is ${version[0]}`;
    else return { kind: "found", path, version: version[0] };
  }
  return missing(why);
}

const missing = (why: string): Go => ({
  kind: "missing",
  why: `Go 1.${MINOR_MIN} or newer is needed, ${why}; install it from https://go.dev/dl, or run \`npm run toolchain\` in the clone of Pawl`,
});

/** The environment of Go commands. Without a writable home the caches are below .toolchain. */
export function goEnv(): NodeJS.ProcessEnv {
  const caches = hasHome()
    ? {}
    : {
        GOCACHE: join(ROOT, ".toolchain", "go-build"),
        GOPATH: join(ROOT, ".toolchain", "go-path"),
      };
  // The Go that is found is used: none is fetched.
  return { ...caches, ...process.env, GOTOOLCHAIN: "local" };
}

function hasHome(): boolean {
  try {
    accessSync(process.env["HOME"] ?? homedir(), constants.W_OK);
    return process.env["HOME"] !== "";
  } catch {
    return false;
  }
}

type Command = {
  readonly command: string;
  readonly args: readonly string[];
  readonly cwd: string;
  readonly env: NodeJS.ProcessEnv;
};

/** Runs a command to its end. */
export function runGo({ command, args, cwd, env }: Command): { code: number; output: string } {
  const done = spawnSync(command, args, { cwd, env, encoding: "utf8", maxBuffer: 64 << 20 });
  const output = `${done.stdout ?? ""}${done.stderr ?? ""}${done.error?.message ?? ""}`;
  return { code: done.status ?? 1, output };
}
