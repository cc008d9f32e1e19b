// How the sandbox child is started: as many layers of the operating system as this host allows, never failing for want of one.
// Outermost first: own network namespace (needs root), uid nobody without privileges (needs root), no core files and few
// descriptors, empty environment, cwd at the root directory. Whether a set of layers works is found by starting a child with it.

import { accessSync, constants } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

/** One way to start the child. */
export interface SandboxCommand {
  /** For logs: "netns+nobody", "nobody", "plain". */
  readonly name: string;
  readonly file: string;
  readonly args: readonly string[];
}

/** What user code of strangers wants: no network of its own, and nobody's rights. */
export const ALL_LAYERS = "netns+nobody";

const NOBODY = "65534";
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
  const tool = options.isRoot ? findTool : () => undefined;
  const prlimit = findTool("prlimit");
  const limited = prlimit === undefined ? node : [prlimit, "--core=0", "--nofile=256", ...node];
  const setpriv = tool("setpriv");
  const unshare = tool("unshare");
  const commands: SandboxCommand[] = [];
  if (setpriv !== undefined) {
    const ids = [`--reuid=${NOBODY}`, `--regid=${NOBODY}`, "--clear-groups"];
    const caps = ["--inh-caps=-all", "--bounding-set=-all", "--no-new-privs"];
    const nobody = [setpriv, ...ids, ...caps, ...limited];
    if (unshare !== undefined) commands.push(command(ALL_LAYERS, [unshare, "--net", ...nobody]));
    commands.push(command("nobody", nobody));
  }
  if (limited !== node) commands.push(command("limited", limited));
  commands.push(command("plain", node));
  return commands;
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
