// The pawl command: makes a host of the process, runs the command line, and exits with its exit code.

import { once } from "node:events";
import { spawn } from "node:child_process";
import { readFile } from "node:fs/promises";
import { resolve } from "node:path";
import { text } from "node:stream/consumers";
import { isatty } from "node:tty";
import { fileURLToPath } from "node:url";
import { createConnectTransport } from "@connectrpc/connect-node";
import { createPawlClient } from "@pawl/client";
import { runProgram } from "./program.ts";
import { type Host, UsageError } from "./session.ts";

const { stdout, stderr, stdin, env } = process;
const DEFAULT_ADDRESS = "http://127.0.0.1:7400";
/** A person waits, so there are only two repeats. */
const ATTEMPTS = 3;

// A reader that closes the pipe (`| head`) is no error.
stdout.on("error", (error: NodeJS.ErrnoException) => process.exit(error.code === "EPIPE" ? 0 : 3));

const interrupt = new AbortController();
// The signal arrives twice if npm forwards it. It must not end the process before the command has printed how to follow the run again.
process.on("SIGINT", () => interrupt.abort());
process.on("SIGTERM", () => interrupt.abort());

// The manifest of this package has a version.
const manifest = JSON.parse(
  await readFile(new URL("../package.json", import.meta.url), "utf8"),
) as { version: string };

const isTty = isatty(1) && env["TERM"] !== "dumb";
const host: Host = {
  version: manifest.version,
  terminal: {
    write: (chunk) => void stdout.write(chunk),
    writeError: (chunk) => void stderr.write(chunk),
    async drain() {
      if (stdout.writableNeedDrain) await once(stdout, "drain");
    },
    isTty,
    hasColour: isTty && (env["NO_COLOR"] ?? "") === "",
    width: () => stdout.columns ?? 80,
    height: () => stdout.rows ?? 24,
  },
  defaultAddress: env["PAWL_ADDRESS"] ?? DEFAULT_ADDRESS,
  self: env["PAWL_SELF"] ?? (env["npm_lifecycle_event"] === "pawl" ? "npm run pawl --" : "pawl"),
  connect(baseUrl) {
    if (!URL.canParse(baseUrl)) {
      throw new UsageError(`--address ${baseUrl}: write it as ${DEFAULT_ADDRESS}`);
    }
    const transport = createConnectTransport({ baseUrl, httpVersion: "1.1" });
    return createPawlClient({ transport, attempts: ATTEMPTS });
  },
  async readText(path) {
    if (path === "-") return text(stdin);
    // The launcher and npm run this at the root of the repository. The caller names files from its own folder.
    const file = resolve(env["INIT_CWD"] ?? process.cwd(), path);
    return readFile(file, "utf8").catch((error: Error) => {
      throw new UsageError(`cannot read ${path}: ${error.message}`);
    });
  },
  runTool(name, args) {
    const tool = fileURLToPath(new URL(`../../../deploy/${name}.ts`, import.meta.url));
    // The terminal also sends Ctrl-C to the tool, which stops by itself.
    const child = spawn(process.execPath, [tool, ...args], { stdio: "inherit" });
    interrupt.signal.addEventListener("abort", () => child.kill("SIGTERM"), { once: true });
    return new Promise((settle, reject) => {
      child.once("error", reject);
      child.once("exit", (code) => settle(code ?? 1));
    });
  },
  now: () => Date.now(),
  interrupted: interrupt.signal,
};

process.exitCode = await runProgram(host, process.argv.slice(2));
