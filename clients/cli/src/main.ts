// The pawl command: makes a host of the process, runs the command line, leaves with its exit code.

import { readFile } from "node:fs/promises";
import { resolve } from "node:path";
import { text } from "node:stream/consumers";
import { isatty } from "node:tty";
import { createConnectTransport } from "@connectrpc/connect-node";
import { createPawlClient } from "@pawl/client";
import { runProgram } from "./program.ts";
import type { Host } from "./session.ts";
import { UsageError } from "./usage-error.ts";

const { stdout, stderr, stdin, env } = process;
const DEFAULT_ADDRESS = "http://127.0.0.1:7400";
/** A person waits: two repeats, then say so. */
const ATTEMPTS = 3;

// A reader that has seen enough (`| head`) is no error.
stdout.on("error", (error: NodeJS.ErrnoException) => process.exit(error.code === "EPIPE" ? 0 : 3));

const interrupt = new AbortController();
// It arrives twice when npm passes it on; it must never end us before we have said how to come back.
process.on("SIGINT", () => interrupt.abort());
process.on("SIGTERM", () => interrupt.abort());

// A manifest of ours to read: it has a version.
const manifest = JSON.parse(
  await readFile(new URL("../package.json", import.meta.url), "utf8"),
) as { version: string };

const isTty = isatty(1) && env["TERM"] !== "dumb";
const host: Host = {
  version: manifest.version,
  terminal: {
    write: (chunk) => void stdout.write(chunk),
    writeError: (chunk) => void stderr.write(chunk),
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
    // The launcher and npm run us at the root of the repository; files are named from where the caller stands.
    const file = resolve(env["INIT_CWD"] ?? process.cwd(), path);
    return readFile(file, "utf8").catch((error: Error) => {
      throw new UsageError(`cannot read ${path}: ${error.message}`);
    });
  },
  now: () => Date.now(),
  interrupted: interrupt.signal,
};

process.exitCode = await runProgram(host, process.argv.slice(2));
