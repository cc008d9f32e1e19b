// How the sandbox child is started: with as many layers of the operating system as this host allows. A missing layer is not a failure. The
// outermost layers are a network namespace and an unprivileged uid; both need root. Then come no core files and few descriptors, a seccomp
// filter, an empty environment, and the root directory as cwd. The executor starts a child to find out whether a set of layers works.

import { accessSync, constants } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { SECCOMP_LOADER, seccompProgram } from "./seccomp.ts";

/** One way to start the child. */
export interface SandboxCommand {
  /** The layers for logs, as in "netns+uid+seccomp". "plain" for none. */
  readonly name: string;
  readonly file: string;
  readonly args: readonly string[];
}

/** The layers that untrusted code needs: no network, and an account that owns nothing. */
export const REQUIRED_LAYERS = "netns+uid";

/** Whether a child started this way has these layers. */
export const hasRequiredLayers = (name: string): boolean => name.startsWith(REQUIRED_LAYERS);

/**
 * No account and no other service uses this uid. It is not 65534, because the embedded PostgreSQL and other services of a host may run with
 * that one. It is below 65,536, so that it exists in containers too.
 */
export const SANDBOX_UID = 64_731;
const TOOL_FOLDERS = ["/usr/bin", "/bin", "/usr/sbin", "/sbin"];
/** No compiler for user code, regular expressions included. --jitless alone would remove WebAssembly, which Node needs to strip types. */
const INTERPRETED = ["--no-opt", "--no-sparkplug", "--no-maglev", "--regexp-interpret-all"];
const CHILD = fileURLToPath(new URL("child.ts", import.meta.url));

/** Ways to start the child, strongest first. The last one works everywhere. */
export function sandboxCommands(options: {
  readonly isRoot: boolean;
  readonly interpreted: boolean;
}): readonly SandboxCommand[] {
  const node = [
    process.execPath,
    "--no-node-snapshot",
    "--no-warnings",
    "--max-old-space-size=64",
    ...(options.interpreted ? INTERPRETED : []),
    CHILD,
  ];
  const prlimit = findTool("prlimit");
  const limits = prlimit === undefined ? [] : [prlimit, "--core=0", "--nofile=256"];
  const filter = seccompLayer();
  const around = outerLayers(options.isRoot);
  const commands: SandboxCommand[] = [];
  for (const [name, layers] of [...around, ["limited", []] as const]) {
    const line = [...layers, ...limits];
    if (filter !== undefined)
      commands.push(command(`${name}+seccomp`, [...line, ...filter, ...node]));
    if (line.length > 0) commands.push(command(name, [...line, ...node]));
  }
  commands.push(command("plain", node));
  return commands;
}

/** Namespaces and accounts, strongest first. */
function outerLayers(isRoot: boolean): readonly (readonly [string, readonly string[]])[] {
  const [setpriv, unshare] = isRoot ? [findTool("setpriv"), findTool("unshare")] : [];
  if (setpriv === undefined) return [];
  const ids = [`--reuid=${SANDBOX_UID}`, `--regid=${SANDBOX_UID}`, "--clear-groups"];
  const caps = ["--inh-caps=-all", "--bounding-set=-all", "--no-new-privs"];
  const uid = [setpriv, ...ids, ...caps];
  return [
    ...(unshare === undefined ? [] : [[REQUIRED_LAYERS, [unshare, "--net", ...uid]] as const]),
    ["uid", uid],
  ];
}

/** The filter and the tool that sets it. Undefined if this host has no such tool, or if the filter does not know its machine. */
function seccompLayer(): readonly string[] | undefined {
  const perl = process.platform === "linux" ? findTool("perl") : undefined;
  const program = seccompProgram();
  if (perl === undefined || program === undefined) return undefined;
  return [perl, "-e", SECCOMP_LOADER, program.toString("hex")];
}

function command(name: string, line: readonly string[]): SandboxCommand {
  const [file = process.execPath, ...args] = line;
  return { name, file, args };
}

function findTool(name: string): string | undefined {
  return TOOL_FOLDERS.map((folder) => join(folder, name)).find((path) => {
    try {
      accessSync(path, constants.X_OK);
      return true;
    } catch {
      return false;
    }
  });
}
