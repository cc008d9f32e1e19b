// buf curl as a child process: a client in another language that reads the contract from the server while it calls.
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { createRequire } from "node:module";
import { text } from "node:stream/consumers";
import { ConnectError } from "@connectrpc/connect";
import { errorFromJsonBytes } from "@connectrpc/connect/protocol-connect";

// The program itself and not the script around it, which could not be ended without leaving the program behind.
const { resolve } = createRequire(createRequire(import.meta.url).resolve("@bufbuild/buf/bin/buf"));
const BUF = resolve(`@bufbuild/buf-${process.platform}-${process.arch}/bin/buf`);

/** What is called, and how. */
type BufCurl = {
  readonly protocol: "grpc" | "grpcweb" | "connect";
  readonly body: object;
  /** One more header, such as `pawl-json: values`. */
  readonly header?: string;
};

/** The messages of the answer as they arrive; a refused call rejects with the error it printed. */
export async function* bufCurl(url: string, { protocol, body, header }: BufCurl): AsyncGenerator {
  const data = JSON.stringify(body);
  const more = header === undefined ? [] : ["-H", header];
  const child = spawn(
    BUF,
    ["curl", "--http2-prior-knowledge", "--protocol", protocol, ...more, "-d", data, url],
    { stdio: ["ignore", "pipe", "pipe"] },
  );
  const exited = once(child, "close");
  const complaint = text(child.stderr);
  try {
    yield* messages(child);
    await exited;
    if (child.exitCode !== 0) throw errorOf(await complaint);
  } finally {
    child.kill();
    await exited;
  }
}

/** buf prints each message as an object whose braces stand alone on their lines, or as an empty one. */
async function* messages(child: ChildProcess): AsyncGenerator {
  let left = "";
  for await (const chunk of child.stdout ?? []) {
    left += String(chunk);
    for (let end = endOf(left); end > 0; end = endOf(left)) {
      yield JSON.parse(left.slice(0, end));
      left = left.slice(end);
    }
  }
}

const endOf = (printed: string): number => {
  const match = /^\s*(\{\}|\{\n[\s\S]*?\n\})\n/.exec(printed);
  return match === null ? 0 : match[0].length;
};

const errorOf = (printed: string): ConnectError =>
  errorFromJsonBytes(
    Buffer.from(printed),
    undefined,
    new ConnectError(`buf curl printed no error: ${printed}`),
  );
