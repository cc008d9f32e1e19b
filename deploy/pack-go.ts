// `npm run pack:go`: makes dist/go, a module proxy in a folder that serves the Go module as a user gets it. It needs git, and no Go.
import { spawnSync } from "node:child_process";
import { mkdirSync, mkdtempSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { pathToFileURL } from "node:url";
import { ROOT } from "./settings.ts";

/** The module of the Go SDK. */
export const GO_MODULE = "pawl.dev/sdk/go";
const SOURCES = "clients/go";
const TIME = "2026-01-01T00:00:00Z";

/** A proxy of modules in a folder, and the newest version that it serves. */
type ModuleProxy = { readonly url: string; readonly version: string };

/**
 * Packs the files of clients/go that git does not ignore, with changes that are not committed. The version names the content, so that no cache
 * of Go answers with an older one. @throws Error with what git printed
 */
export function packGo(folder = join(ROOT, "dist")): ModuleProxy {
  const proxy = join(folder, "go");
  const at = (name: string): string => join(proxy, GO_MODULE, name);
  mkdirSync(at("@v"), { recursive: true });
  const draft = mkdtempSync(join(tmpdir(), "pawl-pack-go-"));
  try {
    const index = join(draft, "index");
    git(["read-tree", "HEAD"], index);
    git(["add", SOURCES], index);
    const tree = git(["write-tree", `--prefix=${SOURCES}/`], index).trim();
    const version = `v0.0.0-20260101000000-${tree.slice(0, 12)}`;
    const prefix = `--prefix=${GO_MODULE}@${version}/`;
    // Two packs at once write the same files, and a reader finds each of them whole.
    const place = (name: string, write: (path: string) => void): void => {
      const own = `${at(name)}-${process.pid}.draft`;
      mkdirSync(dirname(own), { recursive: true });
      write(own);
      renameSync(own, at(name));
    };
    const info = JSON.stringify({ Version: version, Time: TIME });
    const module = git(["cat-file", "blob", `${tree}:go.mod`], index);
    place(`@v/${version}.zip`, (path) =>
      git(["archive", "--format=zip", prefix, "-o", path, tree], index),
    );
    place(`@v/${version}.mod`, (path) => writeFileSync(path, module));
    place(`@v/${version}.info`, (path) => writeFileSync(path, info));
    place("@v/list", (path) => writeFileSync(path, ""));
    place("@latest", (path) => writeFileSync(path, info));
    return { url: pathToFileURL(proxy).href, version };
  } finally {
    rmSync(draft, { recursive: true, force: true });
  }
}

/** Runs git with an index of its own: the index of the clone stays as it is. */
function git(args: readonly string[], index: string): string {
  const env = { ...process.env, GIT_INDEX_FILE: index };
  const done = spawnSync("git", args, { cwd: ROOT, env, encoding: "utf8" });
  if (done.status === 0) return done.stdout;
  throw new Error(`git ${args.join(" ")} failed:\n${done.stderr}`, { cause: done.error });
}

if (import.meta.main) {
  const { url, version } = packGo();
  process.stdout.write(
    [
      join("dist", "go"),
      "Install it in a module of yours:",
      `  export GOPROXY="${url},$(go env GOPROXY)" GONOSUMDB=${GO_MODULE}`,
      `  go get ${GO_MODULE}/pawl@${version}`,
      "",
    ].join("\n"),
  );
}
