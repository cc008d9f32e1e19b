// Go code of the public contracts, a row of the table in gen.ts. The plugins are built from pinned
// sources into .toolchain, once for each version, through the module proxy.
import { existsSync } from "node:fs";
import { join, resolve } from "node:path";
import type { Generated } from "./generated.ts";
import { type Go, findGo, goEnv, runGo } from "./go.ts";

const ROOT = resolve(import.meta.dirname, "..");
const PLUGINS = [
  "google.golang.org/protobuf/cmd/protoc-gen-go@v1.36.12",
  "google.golang.org/grpc/cmd/protoc-gen-go-grpc@v1.6.2",
] as const;

/** Generates the Go code below `folder`, in which `clients/go/gen` is the output. */
export async function generateGo(folder: string): Promise<Generated> {
  const go = findGo();
  if (go.kind === "missing") return { kind: "skipped", why: go.why };
  const plugins = installPlugins(go);
  if (plugins.kind === "failed") return plugins;
  const buf = join(ROOT, "node_modules", ".bin", "buf");
  const args = ["generate", "--template", "clients/go/buf.gen.yaml", "-o", folder];
  const env = { ...process.env, PATH: `${plugins.folder}:${process.env["PATH"] ?? ""}` };
  const { code, output } = runGo({ command: buf, args, cwd: ROOT, env });
  return code === 0 ? { kind: "made" } : { kind: "failed", output };
}

type Plugins =
  | { readonly kind: "ready"; readonly folder: string }
  | { readonly kind: "failed"; readonly output: string };

/** Each version has its own folder, so a new pin never meets the programs of an old one. */
function installPlugins(go: Extract<Go, { kind: "found" }>): Plugins {
  const versions = PLUGINS.map((plugin) => plugin.split("@")[1] ?? "").join("-");
  const folder = join(ROOT, ".toolchain", `go-plugins-${versions}`);
  for (const plugin of PLUGINS) {
    const name = plugin.split("@")[0]?.split("/").at(-1) ?? "";
    if (existsSync(join(folder, name))) continue;
    const env = { ...goEnv(), GOBIN: folder };
    const { code, output } = runGo({ command: go.path, args: ["install", plugin], cwd: ROOT, env });
    if (code !== 0) return { kind: "failed", output };
  }
  return { kind: "ready", folder };
}
