// Runs any task under the pinned Node and pnpm, from nothing but node>=18 + npm. Plain JS, no dependencies.
import { createHash } from "node:crypto";
import { spawn, spawnSync } from "node:child_process";
import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join, resolve, delimiter } from "node:path";
import { fileURLToPath } from "node:url";

const NODE = "24.21.0",
  NODE_MAJOR = 24,
  PNPM = "12.18.0";
const root = resolve(dirname(fileURLToPath(import.meta.url)), "..");
const tools = join(root, ".toolchain", `node-${NODE}-pnpm-${PNPM}`);
const win = process.platform === "win32";
const say = (m) => process.stderr.write(`[bootstrap] ${m}\n`);
const die = (m, code = 1) => {
  say(m);
  process.exit(code);
};

function npm(args) {
  const cli =
    process.env.npm_execpath && /npm-cli\.js$/.test(process.env.npm_execpath)
      ? [process.execPath, process.env.npm_execpath]
      : [win ? "npm.cmd" : "npm"];
  const r = spawnSync(cli[0], [...cli.slice(1), ...args], {
    cwd: root,
    stdio: ["ignore", "ignore", "inherit"],
    shell: win && cli.length === 1,
  });
  return r.status === 0;
}
function toolchain() {
  const plat = win ? "win" : process.platform;
  const nodePkg = `${process.platform === "darwin" && process.arch === "arm64" ? "node-bin" : "node"}-${plat}-${process.arch}`;
  const nodeBin = join(tools, "node_modules", nodePkg, "bin", win ? "node.exe" : "node");
  const pnpmJs = join(tools, "node_modules", "pnpm", "bin", "pnpm.mjs");
  const own = Number(process.versions.node.split(".")[0]) === NODE_MAJOR;
  const want = [];
  if (!own && !existsSync(nodeBin)) want.push(`${nodePkg}@${NODE}`);
  if (!existsSync(pnpmJs)) want.push(`pnpm@${PNPM}`);
  if (want.length) {
    say(`fetching ${want.join(" ")} (once)`);
    mkdirSync(tools, { recursive: true });
    if (!existsSync(join(tools, "package.json")))
      writeFileSync(join(tools, "package.json"), '{"private":true}');
    if (
      !npm([
        "install",
        "--prefix",
        tools,
        "--ignore-scripts",
        "--no-audit",
        "--no-fund",
        "--no-package-lock",
        "--loglevel=error",
        ...want,
      ])
    )
      die(
        `could not fetch ${want.join(" ")} with npm; install Node ${NODE_MAJOR} by hand and run again`,
      );
  }
  return { node: own ? process.execPath : nodeBin, pnpmJs };
}
const { node, pnpmJs } = toolchain();
const env = {
  ...process.env,
  PATH: [dirname(node), join(root, "node_modules", ".bin"), process.env.PATH].join(delimiter),
  NODE_NO_WARNINGS: process.env.NODE_NO_WARNINGS ?? "",
};
if (!env.NODE_NO_WARNINGS) delete env.NODE_NO_WARNINGS;

const stampFile = join(root, "node_modules", ".bootstrap-stamp");
const stamp = createHash("sha256")
  .update(readFileSync(join(root, "pnpm-lock.yaml")))
  .update(readFileSync(join(root, "pnpm-workspace.yaml")))
  .update(`${NODE} ${PNPM} ${process.platform} ${process.arch}`)
  .digest("hex");
if (!existsSync(stampFile) || readFileSync(stampFile, "utf8") !== stamp) {
  say("installing dependencies with pnpm (first run, or lockfile changed)");
  const r = spawnSync(node, [pnpmJs, "install", "--frozen-lockfile", "--reporter=append-only"], {
    cwd: root,
    env: { ...env, CI: "1" },
    stdio: ["ignore", process.env.BOOTSTRAP_VERBOSE ? "inherit" : "ignore", "inherit"],
  });
  if (r.status !== 0)
    die(
      "pnpm install failed; run again with BOOTSTRAP_VERBOSE=1 for its full output",
      r.status ?? 1,
    );
  writeFileSync(stampFile, stamp);
}
let [cmd, ...args] = process.argv.slice(2);
const child =
  cmd === "--bin"
    ? spawn(join(root, "node_modules", ".bin", args.shift() + (win ? ".cmd" : "")), args, {
        cwd: root,
        env,
        stdio: "inherit",
        shell: win,
      })
    : spawn(node, [...(process.env.NODE_FLAGS?.split(" ") ?? []), cmd, ...args], {
        cwd: root,
        env,
        stdio: "inherit",
      });
const parent = process.ppid; // npm dies on SIGTERM without telling us (its sh does not forward): watch for it
setInterval(() => {
  if (process.ppid !== parent) child.kill("SIGTERM");
}, 500).unref();
for (const s of ["SIGINT", "SIGTERM", "SIGHUP"]) process.on(s, () => child.kill(s));
child.on("exit", (code, sig) =>
  process.exit(code ?? (sig === "SIGINT" ? 130 : sig === "SIGTERM" ? 143 : 1)),
);
child.on("error", (e) => die(String(e)));
