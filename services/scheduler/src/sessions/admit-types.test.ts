// Which node types a scheduler takes from an executor, over the real stream and the memory store.
import { randomUUID } from "node:crypto";
import { executorId as toExecutorId } from "@pawl/core/name/ids";
import { createMemoryStore } from "@pawl/platform/store/memory/store";
import { expect, test } from "vitest";
import { createEngine } from "../tick/tick.fixture.ts";
import { connect } from "./work-stream.fixture.ts";

const object = (properties: object, required = Object.keys(properties)) =>
  JSON.stringify({ type: "object", properties, required });
const PRICE = {
  type: "acme.price",
  description: "prices an order",
  inputSchema: object({ sku: { type: "string" } }),
  outputSchema: object({ total: { type: "number" } }),
};

function setup() {
  const store = createMemoryStore({ now: () => 1_000 });
  const engine = createEngine(store, () => 1_000);
  /** Registers an executor of two types and gives the scheduler's answer. */
  const register = async (descriptors: readonly object[]) => {
    const executorId = randomUUID();
    const { say, hear, sever } = connect(store, engine);
    const nodeTypes = ["acme.price", "acme.plain"];
    const value = { executorId, nodeTypes, slots: 1, descriptors: [...descriptors] };
    say({ case: "register", value });
    const { refused } = await hear("registered");
    const session = () => engine.connected.sessions.find((each) => each.executorId === executorId);
    await expect.poll(session).toBeDefined();
    return { refused, served: [...(session()?.nodeTypes ?? [])], sever };
  };
  const revision = async () => (await store.nodeTypes.find(["acme.price"]))[0]?.revision;
  return { store, engine, register, revision };
}

test("descriptors are kept in the catalogue once; a register that changes nothing writes nothing", async () => {
  const { store, register, revision } = setup();
  expect(await register([PRICE])).toMatchObject({
    refused: [],
    served: ["acme.price", "acme.plain"],
  });
  expect(await store.nodeTypes.find(["acme.price", "acme.plain"])).toMatchObject([
    { nodeType: "acme.plain", inputSchema: "" },
    { nodeType: "acme.price", inputSchema: PRICE.inputSchema, revision: 1 },
  ]);
  await register([PRICE]);
  await register([]);
  expect(await revision()).toBe(1);
});

test("a build that takes more and promises as much follows the older one, and the older one may come back", async () => {
  const { register, revision } = setup();
  await register([PRICE]);
  const wider = {
    ...PRICE,
    inputSchema: object({ sku: { type: ["string", "null"] }, note: { type: "string" } }, ["sku"]),
  };
  expect(await register([wider])).toMatchObject({ refused: [] });
  expect(await revision()).toBe(2);
  expect(await register([PRICE])).toMatchObject({ refused: [] });
  expect(await revision()).toBe(2);
});

test("a build that refuses inputs of before is refused while the other is connected; its other types serve", async () => {
  const { store, register, revision } = setup();
  const first = await register([PRICE]);
  const narrower = { ...PRICE, inputSchema: object({ sku: { type: "integer" } }) };
  const { refused, served } = await register([narrower]);
  expect(served).toEqual(["acme.plain"]);
  expect(refused).toMatchObject([{ type: "acme.price", reason: "TYPE_CONFLICT" }]);
  expect(refused[0]?.message).toContain("input.sku is string, expected integer");
  expect(refused[0]?.message).toContain("acme.price@2");
  const demanding = object({ sku: { type: "string" }, country: { type: "string" } });
  expect((await register([{ ...PRICE, inputSchema: demanding }])).refused).toMatchObject([
    { message: expect.stringContaining("input.country is missing, but is required") },
  ]);
  expect(await revision()).toBe(1);
  first.sever();
  await expect
    .poll(() => store.executors.servedByOthers(toExecutorId(randomUUID()), ["acme.price"]))
    .toEqual(new Set());
  expect(await register([narrower])).toMatchObject({ refused: [] });
  expect(await revision()).toBe(2);
});

test("an output that is promised no more is a conflict", async () => {
  const { register } = setup();
  await register([PRICE]);
  const { refused } = await register([{ ...PRICE, outputSchema: "" }]);
  expect(refused).toMatchObject([{ reason: "TYPE_CONFLICT" }]);
});

test.each([
  ["no JSON", "{", "not JSON"],
  ["no schema", "[]", "a schema is an object, true or false"],
  ["a reference to nothing", '{"$ref": "#/$defs/none"}', "names none"],
  ["another dialect", '{"$schema": "http://json-schema.org/draft-07/schema#"}', "2020-12"],
  ["a text of 40 KiB", JSON.stringify({ description: "x".repeat(40_000) }), "32768"],
])("a schema that is %s refuses its type and no other", async (_, inputSchema, says) => {
  const { register } = setup();
  const { refused, served } = await register([{ ...PRICE, inputSchema }]);
  expect(served).toEqual(["acme.plain"]);
  expect(refused).toMatchObject([{ type: "acme.price", reason: "SCHEMA_INVALID" }]);
  expect(refused[0]?.message).toContain(says);
});

test("keywords and patterns of other languages do not refuse a type", async () => {
  const { register } = setup();
  const inputSchema = JSON.stringify({
    oneOf: [{ type: "string", pattern: "^(?!x)", nullable: true }],
    discriminator: { propertyName: "kind" },
  });
  expect(await register([{ ...PRICE, inputSchema }])).toMatchObject({ refused: [] });
});

test("a descriptor of a type that the executor does not serve, a second one and a 65th are refused by name", async () => {
  const { store, engine } = setup();
  const many = Array.from({ length: 65 }, (_, index) => `type-${index}`);
  for (const [descriptors, nodeTypes] of [
    [[{ type: "other" }], ["acme.price"]],
    [[PRICE, PRICE], ["acme.price"]],
    [many.map((type) => ({ type })), many],
  ] as const) {
    const { say, failed } = connect(store, engine);
    const value = { executorId: randomUUID(), nodeTypes: [...nodeTypes], slots: 1 };
    say({ case: "register", value: { ...value, descriptors: [...descriptors] } });
    expect(await failed).toMatchObject({ reason: "INPUT_INVALID" });
  }
});
