// Runs a task under the pinned Node and pnpm on a machine that has only node >= 18 and npm.
//
//
//   node deploy/bootstrap.mjs <file> [arguments]        runs a file under the pinned Node
//   node deploy/bootstrap.mjs --bin <tool> [arguments]  runs a tool of node_modules/.bin
//
// It is plain JavaScript without dependencies, because nothing is installed when it starts. Race: two bootstraps start at once. One of them
// gets the lock folder and installs. The other waits and finds the work done. The toolchain is fetched under a draft name and renamed, and
// only a complete install is stamped. So a later bootstrap does not trust the remains of a killed one.
import { createHash } from "node:crypto";
import { spawn, spawnSync } from "node:child_process";
import {
  accessSync,
  constants,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { homedir } from "node:os";
import { delimiter, dirname, join, resolve } from "node:path";
import { fileURLToPath } from "node:url";

const NODE = "24.21.0";
const NODE_MAJOR = 24;
const PNPM = "12.18.0";

const startedAt = Date.now();
const isWindows = process.platform === "win32";
const root = resolve(dirname(fileURLToPath(import.meta.url)), "..");
const toolchains = join(root, ".toolchain");
const toolchain = join(toolchains, `node-${NODE}-pnpm-${PNPM}`);
const lock = join(toolchains, "lock");
const stampFile = join(root, "node_modules", ".bootstrap-stamp");

function say(message) {
  const seconds = ((Date.now() - startedAt) / 1000).toFixed(1);
  process.stderr.write(`[bootstrap ${seconds}s] ${message}\n`);
}

function fail(message, code = 1) {
  say(message);
  process.exit(code);
}

/** The Node package of this machine. On a platform without one, Node 24 must be installed. */
function nodePackage() {
  const platform = isWindows ? "win" : process.platform;
  const isAppleSilicon = process.platform === "darwin" && process.arch === "arm64";
  return `${isAppleSilicon ? "node-bin" : "node"}-${platform}-${process.arch}`;
}

const isOwnNodeRight = Number(process.versions.node.split(".")[0]) === NODE_MAJOR;
const fetchedNode = join(
  toolchain,
  "node_modules",
  nodePackage(),
  "bin",
  isWindows ? "node.exe" : "node",
);
const node = isOwnNodeRight ? process.execPath : fetchedNode;
const pnpm = join(toolchain, "node_modules", "pnpm", "bin", "pnpm.mjs");

function isToolchainReady() {
  return existsSync(node) && existsSync(pnpm);
}

/** A digest of everything that decides the installed dependencies. A new value causes a new install. */
function wantedStamp() {
  const hash = createHash("sha256");
  for (const file of ["pnpm-lock.yaml", "pnpm-workspace.yaml"]) {
    hash.update(readFileSync(join(root, file)));
  }
  return hash.update(`${NODE} ${PNPM} ${process.platform} ${process.arch}`).digest("hex");
}

function isInstalled() {
  return existsSync(stampFile) && readFileSync(stampFile, "utf8") === wantedStamp();
}

/** Whether the output of a step is shown: to a person at a terminal, and when BOOTSTRAP_VERBOSE is set. */
const isVerbose = Boolean(process.env.BOOTSTRAP_VERBOSE) || process.stderr.isTTY === true;

/** Runs one step. Without a person at the terminal, its output is shown only when it fails. */
function step(what, command, args, env) {
  say(what);
  const done = spawnSync(command, args, {
    cwd: root,
    env,
    encoding: "utf8",
    maxBuffer: 64 * 1024 * 1024,
    // On standard error: standard output belongs to the task.
    stdio: ["ignore", isVerbose ? 2 : "pipe", isVerbose ? 2 : "pipe"],
    shell: isWindows && command.endsWith(".cmd"),
  });
  if (done.status === 0) return;
  if (!isVerbose) process.stderr.write(`${done.stdout ?? ""}${done.stderr ?? ""}`);
  if (done.error !== undefined) say(String(done.error));
  if (done.signal !== null) fail(`stopped by ${done.signal} while ${what}`, 130);
  fail(`failed: ${what} (exit code ${done.status})`, done.status ?? 1);
}

/** The caller's npm: the script that started this process, or npm on the path. */
function npmCommand() {
  const script = process.env.npm_execpath;
  if (script?.endsWith("npm-cli.js")) return { command: process.execPath, first: [script] };
  return { command: isWindows ? "npm.cmd" : "npm", first: [] };
}

/** Whether the account has a writable home. Without one the package caches are inside the project. */
function hasHome() {
  try {
    accessSync(homedir(), constants.W_OK);
    return true;
  } catch {
    return false;
  }
}

function fetchToolchain() {
  for (const name of readdirSync(toolchains)) {
    if (name.endsWith(".draft")) rmSync(join(toolchains, name), { recursive: true, force: true });
  }
  const draft = `${toolchain}-${process.pid}.draft`;
  mkdirSync(draft, { recursive: true });
  writeFileSync(join(draft, "package.json"), '{"private":true}\n');
  const wanted = [`pnpm@${PNPM}`, ...(isOwnNodeRight ? [] : [`${nodePackage()}@${NODE}`])];
  const { command, first } = npmCommand();
  const flags = "--ignore-scripts --no-audit --no-fund --no-package-lock --loglevel=error".split(
    " ",
  );
  if (isVerbose) flags.push("--progress=true");
  const cache = hasHome() ? [] : ["--cache", join(toolchains, "npm-cache")];
  step(
    `fetching ${wanted.join(" and ")} (once)`,
    command,
    [...first, "install", "--prefix", draft, ...flags, ...cache, ...wanted],
    process.env,
  );
  rmSync(toolchain, { recursive: true, force: true });
  renameSync(draft, toolchain);
  if (!isToolchainReady()) {
    fail(
      `the fetched toolchain lacks ${node} or ${pnpm}; install Node ${NODE_MAJOR} and run again`,
    );
  }
}

function install(env) {
  const store = hasHome() ? [] : ["--store-dir", join(toolchains, "store")];
  step(
    "installing dependencies from the lockfile",
    node,
    [
      pnpm,
      "install",
      "--frozen-lockfile",
      `--reporter=${isVerbose ? "default" : "append-only"}`,
      ...store,
    ],
    { ...env, CI: "1" },
  );
  writeFileSync(stampFile, wantedStamp());
}

function isAlive(pid) {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return error.code === "EPERM";
  }
}

function pause(ms) {
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, ms);
}

/** True if this process made the lock. It removes the lock of a dead process. */
function tryLock() {
  try {
    mkdirSync(lock);
    writeFileSync(join(lock, "pid"), String(process.pid));
    return true;
  } catch (error) {
    if (error.code !== "EEXIST") throw error;
  }
  try {
    const owner = Number(readFileSync(join(lock, "pid"), "utf8"));
    if (owner > 0 && !isAlive(owner)) rmSync(lock, { recursive: true, force: true });
  } catch {
    // The owner writes its pid a moment after it makes the folder. After 5 seconds the owner must be dead.
    const age = existsSync(lock) ? Date.now() - statSync(lock).mtimeMs : 0;
    if (age > 5_000) rmSync(lock, { recursive: true, force: true });
  }
  return false;
}

function prepare(env) {
  if (isToolchainReady() && isInstalled()) return;
  mkdirSync(toolchains, { recursive: true });
  for (let waits = 0; !tryLock(); waits += 1) {
    if (waits === 2) say(`another install is running; waiting for it (${lock})`);
    pause(250);
  }
  try {
    process.on("exit", () => rmSync(lock, { recursive: true, force: true }));
    say("fetching what Pawl needs; later starts skip this");
    if (!isToolchainReady()) fetchToolchain();
    if (!isInstalled()) install(env);
    say("ready");
  } finally {
    rmSync(lock, { recursive: true, force: true });
    process.removeAllListeners("exit");
  }
}

function run(env) {
  const [first, ...rest] = process.argv.slice(2);
  if (first === undefined)
    fail("usage: bootstrap.mjs <file> [arguments] | --bin <tool> [arguments]");
  const options = { cwd: root, env, stdio: "inherit", shell: isWindows && first === "--bin" };
  const [tool, ...toolArgs] = rest;
  const child =
    first === "--bin"
      ? spawn(
          join(root, "node_modules", ".bin", tool + (isWindows ? ".cmd" : "")),
          toolArgs,
          options,
        )
      : spawn(node, [first, ...rest], options);
  // npm ends on SIGTERM and does not forward it. So a changed parent means that this process must stop.
  const parent = process.ppid;
  const watch = setInterval(() => {
    if (process.ppid === parent) return;
    // Forward the signal once only: a second one would end the child without its drain.
    clearInterval(watch);
    child.kill("SIGTERM");
  }, 500);
  watch.unref();
  for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"]) {
    process.on(signal, () => child.kill(signal));
  }
  child.on("error", (error) => fail(String(error)));
  child.on("exit", (code, signal) => {
    const bySignal = { SIGINT: 130, SIGTERM: 143 };
    process.exit(code ?? bySignal[signal] ?? 1);
  });
}

const env = {
  // Node strips types and compiles once, not in every command. The pawl command then answers in half the time.
  NODE_COMPILE_CACHE: join(root, "node_modules", ".cache", "pawl-compile"),
  ...process.env,
  PATH: [dirname(node), join(root, "node_modules", ".bin"), process.env.PATH].join(delimiter),
};
prepare(env);
run(env);
