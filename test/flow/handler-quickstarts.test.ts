// The three quickstarts of docs/guides/handlers.md, typed as printed into a shell in an empty folder, against one trio. The page's own
// preparation builds the packages. Only addresses differ. It takes 30 s: npm and pip fetch dependencies, and Go compiles them.
import { readFileSync, rmSync } from "node:fs";
import { delimiter, dirname, join } from "node:path";
import { findGo, goEnv } from "@pawl/deploy/go.ts";
import { findPython } from "@pawl/deploy/python.ts";
import { freePort, LOOPBACK } from "@pawl/deploy/ports.ts";
import { afterAll, beforeAll, expect, test, type TestContext } from "vitest";
import { type Cluster, startCluster } from "../support/cluster.ts";
import { temporaryFolder } from "../support/folder.ts";
import { goOrSkip, run } from "../support/go.ts";
import { pythonOrSkip } from "../support/python.ts";
import { openTerminal } from "../support/terminal.ts";
import { within } from "../support/until.ts";
import { fencesOf } from "../tidy/docs/markdown.ts";
import { ROOT } from "../tidy/sources.ts";

const FENCES = fencesOf(readFileSync(join(ROOT, "docs", "guides", "handlers.md"), "utf8"));
const LINES_MAX = 12;
const TYPED_MS = 180_000;

let cluster: Cluster;
let env: NodeJS.ProcessEnv;

/** The only block of the page with this text. */
function blockWith(words: string): string {
  const blocks = FENCES.filter(({ text }) => text.includes(words));
  expect(blocks).toHaveLength(1);
  return blocks[0]?.text ?? "";
}

/** Types the preparation into a shell in the clone; the variables that it exports. */
async function prepared(base: NodeJS.ProcessEnv): Promise<NodeJS.ProcessEnv> {
  // Without Python, outside of CI, its line fails. A person's shell continues with the next one.
  const stops = (await findPython()).kind === "found" ? ["-e"] : [];
  const show = `printf '\\n%s\\n%s' "$PAWL" "$PATH"`;
  const script = `${blockWith("npm run pack:handler")}\n${show}`;
  const output = await run("sh", [...stops, "-c", script], ROOT, base);
  const [PAWL, PATH] = output.split("\n").slice(-2);
  return { ...base, PAWL, PATH };
}

beforeAll(async () => {
  const handlerPort = String(await freePort());
  cluster = await startCluster({ envOf: { executor: { PAWL_HANDLER_PORT: handlerPort } } });
  const go = findGo();
  const tools = [dirname(process.execPath), process.env["PATH"]];
  if (go.kind === "found") tools.push(dirname(go.path));
  env = await prepared({
    ...goEnv(),
    PATH: tools.join(delimiter),
    npm_config_prefer_offline: "true",
    PAWL_ADDRESS: cluster.url,
    PAWL_HANDLER_ADDRESS: `${LOOPBACK}:${handlerPort}`,
  });
});
afterAll(() => cluster.stop());

/** Types a block into a shell in an empty folder; everything that it printed. The handler process leaves afterwards. */
async function type(context: TestContext, block: string): Promise<string> {
  expect(block.split("\n").length).toBeLessThanOrEqual(LINES_MAX);
  const cwd = temporaryFolder("quickstart");
  context.onTestFailed(() => console.error(cluster.logs()));
  context.onTestFinished(() => rmSync(cwd, { recursive: true, force: true }));
  const terminal = openTerminal(context, block, { cwd, env });
  const { typed, closed } = terminal;
  const code = await within(typed, { timeoutMs: TYPED_MS, what: "the end of the block" });
  expect(code, terminal.output()).toBe(0);
  terminal.press("SIGTERM");
  await within(closed, { what: "the handler process to leave" });
  return terminal.output();
}

// Each mostly waits for downloads, so the three run beside each other.
test.concurrent.for([
  ["npm", "npm", () => undefined],
  ["pip", "pip", pythonOrSkip],
  ["go", "Go", goOrSkip],
] as const)(
  "the %s block installs, serves and runs a handler as printed",
  { timeout: TYPED_MS },
  async ([name, greeter, needs], context) => {
    await needs(context);
    const output = await type(context, blockWith(`pawl run start hello-${name} `));
    expect(output).toContain(`Hello from ${greeter}, Ada!`);
  },
);
