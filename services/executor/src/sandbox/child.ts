// Entry of the sandbox child: reads one request per line from stdin, answers on stdout, and ends with its stdin. It has an empty
// environment, no secrets and, where the host allows it, no network and no privileges. The parent may kill it at any time.

import { LIMITS } from "@pawl/core/data/limits";
import { runInIsolate } from "./isolate.ts";
import { lineReader } from "./line-reader.ts";
import type { SandboxReply, SandboxRequest } from "./protocol.ts";

const say = (reply: SandboxReply): void => {
  process.stdout.write(`${JSON.stringify(reply)}\n`);
};

async function handle(line: string): Promise<void> {
  // The parent is trusted. The code in its requests is not, and is compiled only inside the isolate.
  const request = JSON.parse(line) as SandboxRequest;
  const { id } = request;
  const result = await runInIsolate(request, (level, message) => {
    say({ kind: "log", id, level, message });
  });
  say({ kind: "result", id, result });
}

process.stdin.on(
  "data",
  lineReader({
    bytesMax: 4 * LIMITS.resolvedBytes,
    onLine: (line) => {
      handle(line).catch(() => process.exit(1));
    },
    onOverflow: () => process.exit(1),
  }),
);
process.stdin.on("end", () => process.exit(0));
say({ kind: "ready" });
