// The three quickstarts of docs/guides/handlers.md, typed as printed into a shell in an empty folder, against one trio. Packages are built
// first, as the page says. Only addresses differ. It takes 90 s on two busy cores: npm and pip fetch dependencies, and Go compiles them.
import { spawn } from "node:child_process";
import { readFileSync, rmSync, symlinkSync } from "node:fs";
import { delimiter, dirname, join } from "node:path";
import { findGo, goEnv } from "@pawl/deploy/go.ts";
import { packHandler } from "@pawl/deploy/pack-handler.ts";
import { packPython } from "@pawl/deploy/pack-python.ts";
import { freePort, LOOPBACK } from "@pawl/deploy/ports.ts";
import { afterAll, beforeAll, beforeEach, expect, onTestFinished, test } from "vitest";
import { type Cluster, startCluster } from "../support/cluster.ts";
import { temporaryFolder } from "../support/folder.ts";
import { goOrSkip } from "../support/go.ts";
import { pythonOrSkip } from "../support/python.ts";
import { within } from "../support/until.ts";
import { fencesOf } from "../tidy/docs/markdown.ts";
import { ROOT } from "../tidy/sources.ts";

const PAGE = readFileSync(join(ROOT, "docs", "guides", "handlers.md"), "utf8");
const LINES_MAX = 12;
const TYPED_MS = 180_000;

/** The clone as the page names it: packages in dist, the Go module, and the command line. */
const clone = temporaryFolder("clone");
let cluster: Cluster;
let handlerPort = "";

beforeAll(async () => {
  symlinkSync(join(ROOT, "clients"), join(clone, "clients"));
  symlinkSync(join(ROOT, "pawl"), join(clone, "pawl"));
  handlerPort = String(await freePort());
  cluster = await startCluster({ envOf: { executor: { PAWL_HANDLER_PORT: handlerPort } } });
});
beforeEach(({ onTestFailed }) => onTestFailed(() => console.error(cluster.logs())));
afterAll(async () => {
  await cluster.stop();
  rmSync(clone, { recursive: true, force: true });
});

/** The block of the page that starts this workflow. */
function blockOf(workflow: string): string {
  const block = fencesOf(PAGE).find(({ text }) => text.includes(`pawl run start ${workflow} `));
  expect(block?.text.split("\n").length).toBeLessThanOrEqual(LINES_MAX);
  return block?.text ?? "";
}

/** Types a block into a shell in an empty folder; everything that it printed. The handler process leaves afterwards. */
async function type(block: string): Promise<string> {
  const folder = temporaryFolder("quickstart");
  const tools = [dirname(process.execPath), process.env["PATH"], clone, dirname(goPath())];
  const child = spawn("sh", ["-e", "-c", block], {
    cwd: folder,
    env: {
      ...goEnv(),
      PATH: tools.join(delimiter),
      PAWL: clone,
      npm_config_prefer_offline: "true",
      PAWL_ADDRESS: cluster.url,
      PAWL_HANDLER_ADDRESS: `${LOOPBACK}:${handlerPort}`,
    },
    stdio: ["ignore", "pipe", "pipe"],
    // The shell and the process that it starts in the background are one group.
    detached: true,
  });
  let output = "";
  child.stdout.on("data", (chunk: Buffer) => (output += chunk.toString()));
  child.stderr.on("data", (chunk: Buffer) => (output += chunk.toString()));
  const closed = new Promise((resolve) => child.once("close", resolve));
  const signal = (name: NodeJS.Signals): void => {
    try {
      process.kill(-(child.pid ?? 0), name);
    } catch {
      // The group has ended.
    }
  };
  onTestFinished(() => {
    signal("SIGKILL");
    rmSync(folder, { recursive: true, force: true });
  });
  const typed = new Promise<number | null>((resolve) => child.once("exit", resolve));
  const code = await within(typed, { timeoutMs: TYPED_MS, what: "the end of the block" });
  expect(code, output).toBe(0);
  signal("SIGTERM");
  await within(closed, { what: "the handler process to leave" });
  return output;
}

function goPath(): string {
  const go = findGo();
  return go.kind === "found" ? go.path : "";
}

test(
  "the npm block installs, serves and runs a handler as printed",
  { timeout: TYPED_MS },
  async () => {
    packHandler(join(clone, "dist"));
    expect(await type(blockOf("hello-npm"))).toContain("Hello from npm, Ada!");
  },
);

test(
  "the pip block installs, serves and runs a handler as printed",
  { timeout: TYPED_MS },
  async (context) => {
    await pythonOrSkip(context);
    await packPython(join(clone, "dist"));
    expect(await type(blockOf("hello-pip"))).toContain("Hello from pip, Ada!");
  },
);

test(
  "the go block installs, serves and runs a handler as printed",
  { timeout: TYPED_MS },
  async (context) => {
    goOrSkip(context);
    expect(await type(blockOf("hello-go"))).toContain("Hello from Go, Ada!");
  },
);
