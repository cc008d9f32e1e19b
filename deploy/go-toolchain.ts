// Go for a machine without it: the toolchain that Go itself would fetch, from the configured module proxy, checked and unpacked into
// .toolchain. The race it survives: two callers at once. Each unpacks under a draft name of its own, and the first rename counts.
import { existsSync, readFileSync, renameSync, rmSync } from "node:fs";
import { homedir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { FETCHED_GO, FETCHED_VERSION, findGo, type Go } from "./go.ts";
import { filesOf, moduleSum, writeModule } from "./module-zip.ts";

/** The proxy that Go uses without a setting. */
const DEFAULT_PROXY = "https://proxy.golang.org";
/** By platform: its name in Go, and the checksum of its toolchain in Go's checksum database. */
const PLATFORMS: Readonly<Record<string, { readonly name: string; readonly sum: string }>> = {
  "linux-x64": {
    name: "linux-amd64",
    sum: "h1:ZOmGe1OnfREDMIdb1Qi4G9JSuDPBLGExZMQ4nis1RXM=",
  },
  "linux-arm64": {
    name: "linux-arm64",
    sum: "h1:sYL/O6MqS68ML0kjsQ36WoYIpJqkw60TxizWUYUKQMc=",
  },
  "darwin-x64": {
    name: "darwin-amd64",
    sum: "h1:7/9KPPN8PckcA9s91hm2jmQMhzW4KyTJXHIs45L0C9M=",
  },
  "darwin-arm64": {
    name: "darwin-arm64",
    sum: "h1:dFjGhY6f8DTsY8/rLchUTDRRfjJP4pCrGCwxvHFT2Fg=",
  },
};

/** The Go of this machine; if it has none that fits, Go is fetched. */
export async function provideGo(found: Go = findGo()): Promise<Go> {
  if (found.kind === "found") return found;
  const platform = PLATFORMS[`${process.platform}-${process.arch}`];
  if (platform === undefined) return found;
  try {
    await fetchGo(platform.name, platform.sum);
  } catch (error) {
    return { kind: "missing", why: `${found.why}; it could not be fetched: ${String(error)}` };
  }
  return findGo();
}

async function fetchGo(platform: string, sum: string): Promise<void> {
  const version = `v0.0.1-go${FETCHED_VERSION}.${platform}`;
  const files = filesOf(await fetchZip(`golang.org/toolchain/@v/${version}.zip`));
  const actual = moduleSum(files);
  if (actual !== sum) throw new Error(`the checksum is ${actual}, and must be ${sum}`);
  const draft = `${FETCHED_GO}-${process.pid}.draft`;
  try {
    const prefix = `golang.org/toolchain@${version}/`;
    writeModule(files, { folder: draft, prefix }, (name) => /^(bin|pkg\/tool)\//.test(name));
    renameSync(draft, FETCHED_GO);
  } catch (error) {
    // Another caller was faster if the folder is there.
    if (!existsSync(FETCHED_GO)) throw error;
  } finally {
    rmSync(draft, { recursive: true, force: true });
  }
}

/** The first answer of the configured proxies. @throws Error with the answer of each if none has the file */
async function fetchZip(path: string): Promise<Buffer> {
  const refusals: string[] = [];
  for (const proxy of moduleProxies()) {
    const url = `${proxy.replace(/\/$/, "")}/${path}`;
    try {
      if (url.startsWith("file:")) return readFileSync(fileURLToPath(url));
      const response = await fetch(url);
      if (response.ok) return Buffer.from(await response.arrayBuffer());
      refusals.push(`${url} answered ${response.status}`);
    } catch (error) {
      refusals.push(`${url}: ${String(error)}`);
    }
  }
  throw new Error(refusals.join("; ") || "GOPROXY names no proxy");
}

/** The proxies of GOPROXY, in the environment or in the user's file of `go env -w`, as Go reads them. */
export function moduleProxies(
  env: NodeJS.ProcessEnv = process.env,
  file = env["GOENV"] ?? join(configFolder(env), "go", "env"),
): string[] {
  const written = existsSync(file) ? readFileSync(file, "utf8") : "";
  const setting = env["GOPROXY"] || /^GOPROXY=(.+)$/m.exec(written)?.[1] || DEFAULT_PROXY;
  return setting.split(/[,|]/).filter((one) => /^(https?|file):/.test(one));
}

const configFolder = (env: NodeJS.ProcessEnv): string =>
  process.platform === "darwin"
    ? join(homedir(), "Library", "Application Support")
    : (env["XDG_CONFIG_HOME"] ?? join(homedir(), ".config"));
