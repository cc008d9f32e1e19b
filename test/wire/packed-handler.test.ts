// @pawl/handler as a new user gets it: npm installs the tarball into an empty folder, a strict compiler accepts an example, and plain
// `node` runs it without network, the oldest that the package promises too.
import { execFile } from "node:child_process";
import { rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { promisify } from "node:util";
import { oldestNode } from "@pawl/deploy/oldest-node.ts";
import { packHandler } from "@pawl/deploy/pack-handler.ts";
import { ROOT } from "@pawl/deploy/settings.ts";
import { beforeAll, expect, test } from "vitest";
import { temporaryFolder } from "../support/folder.ts";

const run = promisify(execFile);
const INSTALL_MS = 180_000;

const EXAMPLE = `
import { defineHandler, Failed, flow, runHandler, startExecutor } from "@pawl/handler";
import { z } from "zod";

const charge = defineHandler({
  type: "acme.charge@1",
  input: z.object({ customer: z.string(), cents: z.int() }),
  output: z.object({ receipt: z.string() }),
  run: async (input, ctx) => {
    const made = await ctx.once("charge", "idempotent", () => ({ id: "r-" + input.customer }));
    if (input.cents > 1_000) throw new Failed("acme.declined", "too much", { permanent: true });
    return { receipt: made.id };
  },
});
const order = flow("order", { input: z.object({ who: z.string() }) }).node(
  "pay",
  charge,
  ({ input }) => ({ customer: input.who, cents: 5 }),
);
const good = await runHandler(charge, { customer: "c1", cents: 5 });
const bad = await runHandler(charge, { customer: "c1", cents: 5_000 });
console.log(JSON.stringify({
  output: good.output,
  cause: bad.failure?.cause,
  nodes: order.definition.nodes,
  schema: charge.schemas.input !== "",
  start: typeof startExecutor,
}));
`;

let folder = "";
let nodes: readonly string[] = [];

beforeAll(async () => {
  nodes = [process.execPath, await oldestNode()];
  folder = temporaryFolder("user");
  const tarball = packHandler(temporaryFolder("packed"));
  const flags = ["--no-audit", "--no-fund", "--prefer-offline", "--ignore-scripts"];
  await run("npm", ["install", ...flags, tarball, "zod@4"], { cwd: folder });
  return () => rmSync(folder, { recursive: true, force: true });
}, INSTALL_MS);

test("an installed handler package runs handlers and builds flows with plain node, Node 22 too", async () => {
  writeFileSync(join(folder, "example.mjs"), EXAMPLE);
  for (const node of nodes) {
    const { stdout } = await run(node, ["example.mjs"], { cwd: folder });
    expect(JSON.parse(stdout)).toEqual({
      output: { receipt: "r-c1" },
      cause: "acme.declined",
      nodes: [
        { id: "pay", type: "acme.charge@1", input: { customer: "{{ctx.input.who}}", cents: 5 } },
      ],
      schema: true,
      start: "function",
    });
  }
});

/** Makes the oldest Node of the suite look like Node 20, which lacks this built-in. */
const AS_NODE_20 =
  'data:text/javascript,Object.defineProperty(process,"version",{value:"v20.19.0"});delete Promise.withResolvers';

test("on Node 20 the package ends with a message that names Node 22", async () => {
  writeFileSync(join(folder, "example.mjs"), EXAMPLE);
  const [, oldest = ""] = nodes;
  const ended = run(oldest, ["--import", AS_NODE_20, "example.mjs"], { cwd: folder });
  await expect(ended).rejects.toMatchObject({
    stderr: expect.stringContaining("needs Node.js 22 or newer, and this is v20.19.0"),
  });
});

test("its types pass a strict compiler, and a wrong field does not", async () => {
  const tsc = join(ROOT, "node_modules", "typescript", "bin", "tsc");
  const compile = (name: string, text: string) => {
    writeFileSync(join(folder, name), text);
    const settings = ["--noEmit", "--strict", "--target", "es2023", "--module", "nodenext"];
    const more = ["--lib", "es2024,dom,esnext.disposable", "--types", ""];
    return run(process.execPath, [tsc, ...settings, ...more, name], { cwd: folder });
  };
  await compile("example.mts", EXAMPLE);
  const wrong = compile("wrong.mts", EXAMPLE.replace("customer: input.who", "customer: input.wo"));
  await expect(wrong).rejects.toMatchObject({ stdout: expect.stringContaining("wo") });
});
