// The projects of `pawl init`, from the first command to the output of a run: what init prints is typed into two terminals. Only ports and the
// data folder differ. It takes 40 s: each project has a stack of its own, as `pawl dev` starts it.
import { rmSync } from "node:fs";
import { join } from "node:path";
import { goEnv } from "@pawl/deploy/go.ts";
import { freePort, LOOPBACK } from "@pawl/deploy/ports.ts";
import { expect, test, type TestContext } from "vitest";
import { temporaryFolder } from "../support/folder.ts";
import { goOrSkip, run } from "../support/go.ts";
import { pythonOrSkip } from "../support/python.ts";
import { openTerminal } from "../support/terminal.ts";
import { within } from "../support/until.ts";
import { ROOT } from "../tidy/sources.ts";

const TIMEOUT_MS = 240_000;

function emptyFolder({ onTestFinished }: TestContext, name: string): string {
  const folder = temporaryFolder(name);
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
}

/** The commands that init prints below a heading. */
function below(printed: string, heading: string): string {
  const [, rest = ""] = printed.split(`${heading}\n\n`);
  const lines = rest.split("\n");
  const end = lines.findIndex((line) => !line.startsWith("  "));
  return lines.slice(0, end).join("\n");
}

/** Skips a language whose tools are missing. */
const NEEDS: Readonly<Record<string, (context: TestContext) => unknown>> = {
  ts: () => undefined,
  python: pythonOrSkip,
  go: goOrSkip,
};

// Each mostly waits for downloads and starts, so the three run beside each other.
test.concurrent.for(Object.entries(NEEDS))(
  "the %s project installs, serves and runs its workflow with the commands that pawl init prints",
  { timeout: TIMEOUT_MS },
  async ([language, needs], context) => {
    await needs(context);
    const cwd = emptyFolder(context, "init");
    const gatewayPort = String(await freePort());
    const env = {
      ...goEnv(),
      npm_config_prefer_offline: "true",
      PAWL_ADDRESS: `http://${LOOPBACK}:${gatewayPort}`,
      PAWL_DATA_DIR: emptyFolder(context, "init-data"),
      PAWL_GATEWAY_PORT: gatewayPort,
      PAWL_SCHEDULER_PORT: String(await freePort()),
      PAWL_HANDLER_PORT: String(await freePort()),
      PAWL_METRICS_PORT: "0",
      PAWL_DRAIN_MS: "3000",
    };
    const printed = await run(join(ROOT, "pawl"), ["init", language], cwd, env);
    const serving = openTerminal(context, below(printed, "In one terminal:"), { cwd, env });
    await serving.says("version 1 serves");
    const commands = below(printed, "In another terminal, in the same folder:");
    const output = await run("sh", ["-e", "-c", commands], join(cwd, "hello-handlers"), env);
    expect(output).toContain("Hello, Ada!");
    serving.press("SIGINT");
    await within(serving.closed, { timeoutMs: 30_000, what: "the end of pawl dev" });
  },
);
