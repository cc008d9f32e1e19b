import { expect, test } from "vitest";
import { setup } from "./scripted-host.fixture.ts";

const PRICE = {
  type: "acme.price",
  description: "Prices an order by the list of the day, with taxes and a discount for members.",
  executors: 2,
  inputSchema: '{"type":"object"}',
};

test("node types are listed within 80 columns, and one is shown with its schemas", async () => {
  const { gateway, printed, pawl } = await setup(
    {
      nodeTypes: {
        listNodeTypes: () => ({
          nodeTypes: [
            PRICE,
            { type: "http", builtIn: true, description: "Makes an HTTP request." },
          ],
          nextPageToken: "more",
        }),
        getNodeType: () => ({ nodeType: PRICE }),
      },
    },
    { columns: 80 },
  );
  await using _ = gateway;
  expect(await pawl("node-type", "list")).toBe(0);
  const lines = printed.out.split("\n");
  expect(lines[0]).toMatch(/^TYPE +EXECUTORS +ORIGIN +DESCRIPTION/);
  expect(lines[1]).toMatch(/^acme\.price +2 +handler +Prices an order/);
  expect(printed.out).toContain("More: pawl node-type list --page-token more");
  expect(lines.filter((line) => line.length > 80)).toEqual([]);
  expect(await pawl("node-type", "get", "acme.price")).toBe(0);
  expect(printed.out).toContain('input schema\n{\n  "type": "object"\n}');
  printed.out = "";
  expect(await pawl("node-type", "get", "acme.price", "-o", "json")).toBe(0);
  expect(JSON.parse(printed.out)).toMatchObject({
    type: "acme.price",
    inputSchema: { type: "object" },
  });
});

test("executors are listed with process, language, build, slots and silence", async () => {
  const { gateway, printed, pawl } = await setup(
    {
      nodeTypes: {
        listExecutors: () => ({
          executors: [
            {
              processName: "pricing",
              language: "python 3.12",
              build: "7f3a",
              slots: 8,
              busy: 3,
              silentMs: 22_000n,
              giveUpMs: 38_000n,
              nodeTypes: ["acme.price", "acme.tax"],
            },
            { description: "built-in executor", slots: 16, nodeTypes: ["http"] },
          ],
        }),
      },
    },
    { columns: 80 },
  );
  await using _ = gateway;
  expect(await pawl("executor", "list")).toBe(0);
  const lines = printed.out.split("\n");
  expect(lines[1]).toMatch(
    /^pricing +python 3\.12 +7f3a +3\/8 +silent 22\S* +acme\.price acme\.tax/,
  );
  expect(lines[2]).toMatch(/^built-in executor +0\/16 +answers +http/);
  expect(lines.filter((line) => line.length > 80)).toEqual([]);
  printed.out = "";
  expect(await pawl("executor", "list", "-o", "json")).toBe(0);
  expect(JSON.parse(printed.out)).toMatchObject({
    executors: [{ silentMs: 22_000, giveUpMs: 38_000 }, {}],
  });
});
