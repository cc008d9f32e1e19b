// How the sandbox child is started: as many layers of the operating system as this host allows, never failing for want of one.
// Outermost first: own network namespace (needs root), a uid of its own without privileges (needs root), no core files and few descriptors, a
// seccomp filter, empty environment, cwd at the root directory. Whether a set of layers works is found by starting a child with it.

import { accessSync, constants } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { SECCOMP_LOADER, seccompProgram } from "./seccomp.ts";

/** One way to start the child. */
export interface SandboxCommand {
  /** For logs: the layers, as in "netns+uid+seccomp"; "plain" for none. */
  readonly name: string;
  readonly file: string;
  readonly args: readonly string[];
}

/** What user code of strangers wants: no network of its own, and the rights of an account that owns nothing. */
export const REQUIRED_LAYERS = "netns+uid";

/** Whether a child started this way has them. */
export const hasRequiredLayers = (name: string): boolean => name.startsWith(REQUIRED_LAYERS);

/**
 * No account has it, and no other service runs under it: not `nobody`, whose rights the embedded PostgreSQL and much else on a host may have.
 * Below 65,536, so that it exists in containers as well.
 */
export const SANDBOX_UID = 64_731;
const TOOL_FOLDERS = ["/usr/bin", "/bin", "/usr/sbin", "/sbin"];
/** No compiler for user code, regular expressions included. --jitless itself would take WebAssembly from Node, which strips types with it. */
const INTERPRETED = ["--no-opt", "--no-sparkplug", "--no-maglev", "--regexp-interpret-all"];
const CHILD = fileURLToPath(new URL("child.ts", import.meta.url));

/** Ways to start the child, strongest first; the last one works anywhere. */
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

/** The filter, and the tool that sets it; undefined where this host has no such tool or the filter is not known for its machine. */
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
