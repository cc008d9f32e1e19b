// pawl handler doctor on the real trio: a handler changes its types after workflows were saved, and the doctor names the workflows that no
// longer fit, with their lines. It costs 8 seconds.
import { runProgram } from "@pawl/cli/program";
import { createPawlClient, jsonOf, type PawlClient } from "@pawl/client";
import { defineHandler } from "@pawl/core/handler/define";
import type { ServedHandler } from "@pawl/core/handler/served";
import { freePort, LOOPBACK } from "@pawl/deploy/ports.ts";
import { startServing } from "@pawl/handler/serve/serve";
import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";
import { z } from "zod";
import { type Cluster, startCluster } from "../support/cluster.ts";
import { until } from "../support/until.ts";

let cluster: Cluster;
let client: PawlClient;
let address: string;

beforeAll(async () => {
  const port = await freePort();
  address = `${LOOPBACK}:${port}`;
  cluster = await startCluster({ envOf: { executor: { PAWL_HANDLER_PORT: String(port) } } });
  client = createPawlClient({ baseUrl: cluster.url });
});
beforeEach(({ onTestFailed }) => onTestFailed(() => console.error(cluster.logs())));
afterAll(async () => {
  client.close();
  await cluster.stop();
});

/** Serves the handlers until it is disposed; the catalogue has them by then. */
async function serving(build: string, ...handlers: readonly ServedHandler[]) {
  const options = { address, name: "letters", build, log: () => undefined };
  const process = startServing(handlers, options);
  const listed = async () =>
    (await client.executors.list()).some((executor) => executor.build === build);
  await until(listed, { what: `the catalogue to have build ${build}` });
  return {
    [Symbol.asyncDispose]: async () => {
      process.stop();
      await process.done;
      await until(async () => !(await listed()), { what: `build ${build} to leave` });
    },
  };
}

const price = defineHandler({
  type: "doctor.price",
  output: z.object({ total: z.number() }),
  run: () => ({ total: 1 }),
});
const letter = (amount: z.ZodType) =>
  defineHandler({ type: "doctor.letter", input: z.object({ amount }), run: () => null });

const DEFINITION = `id: priced-letter
nodes:
  - { id: price, type: doctor.price }
  - { id: letter, type: doctor.letter, input: { amount: "{{ctx.nodes.price.total}}" } }
edges:
  - { source: price, target: letter }
`;

async function doctor(): Promise<{ readonly code: number; readonly out: string }> {
  let out = "";
  const write = (text: string): void => void (out += text);
  const code = await runProgram(
    {
      terminal: {
        ...{ write, writeError: write, isTty: true, hasColour: false },
        ...{ width: () => 80, height: () => 24 },
      },
      version: "0.0.0",
      defaultAddress: cluster.url,
      self: "./pawl",
      connect: (baseUrl: string) => createPawlClient({ baseUrl }),
      readText: async () => "",
      runTool: async () => 0,
      now: () => Date.now(),
      interrupted: new AbortController().signal,
    },
    ["handler", "doctor", "--handler-address", address],
  );
  return { code, out };
}

test("a saved workflow that a changed type breaks is an error of the doctor, with its line", async () => {
  {
    await using _ = await serving("1", price, letter(z.number()));
    await client.workflows.apply(DEFINITION);
    const { code, out } = await doctor();
    expect(out).toContain("ok       executors serve every node type of 1 workflow, and");
    expect(code).toBe(0);
  }
  await using _ = await serving("2", price, letter(z.string()));
  const { code, out } = await doctor();
  const words = out.replaceAll(/\s+/g, " ");
  const saved = jsonOf((await client.workflows.get("priced-letter")).definitionJson);
  const lines = JSON.stringify(saved, undefined, 2).split("\n");
  const line = lines.findIndex((text) => text.includes('"amount"')) + 1;
  expect(words).toMatch(new RegExp(`error priced-letter:${line}:\\d+ node "letter": input.amount`));
  expect(words).toContain("amount is number, expected string [TYPE_MISMATCH]");
  expect(words).not.toContain("the definitions fit");
  expect(out.split("\n").every((text) => text.length <= 80)).toBe(true);
  expect(code).toBe(1);
});
