// The client of the quickstart as a new user gets it: npm installs the tarball into an empty folder, and plain `node` runs the example as
// printed, the oldest that the package promises too. Only the address of the gateway differs.
import { execFile } from "node:child_process";
import { readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { promisify } from "node:util";
import { createPawlClient } from "@pawl/client";
import { oldestNode } from "@pawl/deploy/oldest-node.ts";
import { packClient } from "@pawl/deploy/pack-client.ts";
import { ROOT } from "@pawl/deploy/settings.ts";
import { beforeAll, expect, onTestFinished, test } from "vitest";
import { startCluster } from "../support/cluster.ts";
import { temporaryFolder } from "../support/folder.ts";

const run = promisify(execFile);
const PAGE = readFileSync(join(ROOT, "docs", "quickstart.md"), "utf8");
const ADDRESS = "http://127.0.0.1:7400";

/** The first block of this language whose text contains `mark`. */
function snippet(language: string, mark: string): string {
  const blocks = PAGE.matchAll(new RegExp("```" + language + "\\n([\\s\\S]*?)```", "g"));
  for (const [, text = ""] of blocks) if (text.includes(mark)) return text;
  throw new Error(`the quickstart has no ${language} block with ${mark}`);
}

const SNIPPET = snippet("js", "@pawl/client");

let folder = "";
let nodes: readonly string[] = [];

beforeAll(async () => {
  nodes = [process.execPath, await oldestNode()];
  folder = temporaryFolder("user");
  const tarball = packClient(temporaryFolder("packed"));
  const flags = ["--no-audit", "--no-fund", "--prefer-offline", "--ignore-scripts"];
  await run("npm", ["install", ...flags, tarball], { cwd: folder });
  return () => rmSync(folder, { recursive: true, force: true });
});

test("the quickstart's client runs as printed in an empty folder, on Node 22 too, and its process ends by itself", async () => {
  const cluster = await startCluster();
  onTestFinished(() => cluster.stop());
  await createPawlClient({ baseUrl: cluster.url }).workflows.apply(snippet("yaml", "id: welcome"));
  writeFileSync(join(folder, "welcome.mjs"), SNIPPET.replaceAll(ADDRESS, cluster.url));
  const call = `import { createPawlClient } from "@pawl/client";
    const client = createPawlClient({ baseUrl: "${cluster.url}" });
    console.log(await client.run("welcome", { name: "Ada", amount: 120 }));`;
  writeFileSync(join(folder, "call.mjs"), call);
  for (const node of nodes) {
    const { stdout } = await run(node, ["welcome.mjs"], { cwd: folder });
    expect(stdout).toMatch(/^1 run\.started/);
    expect(stdout).toMatch(/^\d+ run\.completed/m);
    // The watch and the one call, each from the first event to the last.
    expect(stdout.match(/^1 run\.started/gm)).toHaveLength(2);
    expect(stdout.match(/^\d+ run\.completed/gm)).toHaveLength(2);
    expect(stdout).toContain("Dear Ada, your order of 150 EUR is on its way.");
    const called = await run(node, ["call.mjs"], { cwd: folder });
    expect(called.stdout).toContain("Dear Ada, your order of 150 EUR is on its way.");
  }
});

test("a bundle of the packed client for browsers has no code of Node", async () => {
  writeFileSync(join(folder, "index.html"), '<script type="module" src="/page.js"></script>');
  writeFileSync(
    join(folder, "page.js"),
    'import { createPawlClient } from "@pawl/client";\nwindow.client = createPawlClient({ baseUrl: location.origin });\n',
  );
  const vite = join(ROOT, "clients", "web", "node_modules", "vite", "bin", "vite.js");
  await run(process.execPath, [vite, "build", "--minify", "false"], { cwd: folder });
  const assets = join(folder, "dist", "assets");
  const bundle = readdirSync(assets)
    .map((name) => readFileSync(join(assets, name), "utf8"))
    .join("\n");
  expect(bundle.includes("createPawlClient")).toBe(true);
  expect(bundle.match(/node:http2|browser-external|Http2SessionManager/)).toBeNull();
});

test("the quickstart's client has types that a strict compiler accepts", async () => {
  writeFileSync(join(folder, "welcome.mts"), SNIPPET);
  const settings = ["--noEmit", "--strict", "--target", "es2022", "--module", "nodenext"];
  const tsc = join(ROOT, "node_modules", "typescript", "bin", "tsc");
  await run(process.execPath, [tsc, ...settings, "--types", "", "welcome.mts"], { cwd: folder });
  writeFileSync(join(folder, "wrong.mts"), SNIPPET.replace("run.runId", "run.runID"));
  const wrong = run(process.execPath, [tsc, ...settings, "--types", "", "wrong.mts"], {
    cwd: folder,
  });
  await expect(wrong).rejects.toMatchObject({ stdout: expect.stringContaining("runID") });
});
