import { expect, expectTypeOf, test } from "vitest";
import { z } from "zod";
import { callOf } from "./call.fixture.ts";
import { defineHandler } from "./define.ts";
import { Cancelled } from "./failure.ts";
import { result } from "./result.ts";
import type { StandardSchema } from "./standard-schema.ts";

const charge = defineHandler({
  type: "acme.charge@1",
  description: "Charges a customer.",
  input: z.object({ customer: z.string(), cents: z.coerce.number().int().positive() }),
  output: z.object({ receipt: z.string(), at: z.number().default(0) }),
  config: z.object({ bank: z.string().default("main") }),
  stallMs: 5_000,
  run: (input, ctx) => {
    expectTypeOf(input).toEqualTypeOf<{ customer: string; cents: number }>();
    expectTypeOf(ctx.config).toEqualTypeOf<{ bank: string }>();
    return { receipt: `${ctx.config.bank}:${input.customer}:${input.cents}` };
  },
});

test("the types of a handler follow from its schemas, and a wrong return does not compile", () => {
  expectTypeOf<NonNullable<typeof charge.types>["output"]>().toEqualTypeOf<{
    receipt: string;
    at: number;
  }>();
  defineHandler({
    type: "t",
    output: z.object({ receipt: z.string() }),
    // @ts-expect-error the output schema has a text
    run: () => ({ receipt: 1 }),
  });
  defineHandler({
    type: "t",
    input: z.object({ a: z.string() }),
    // @ts-expect-error the input schema has no b
    run: (input) => input.b,
  });
});

test("an invocation gets the checked input and config, and its output passes its schema", async () => {
  const ended = await charge.invoke(callOf('{"customer":"c1","cents":"5"}', '{"bank":"b"}'));
  expect(ended).toEqual({
    result: { outputJson: '{"receipt":"b:c1:5","at":0}', handle: "", queueDelayMs: 0 },
  });
});

test.each([
  ['{"customer":"c1","cents":-1}', "", "input_invalid", "cents: ", true],
  ["null", "", "input_invalid", "input: ", true],
  ['{"customer":"c1","cents":1}', '{"bank":5}', "config_invalid", "bank: ", true],
] as const)(
  "an input %s with the config %j is refused with the path of the fault",
  async (input, config, cause, path, permanent) => {
    const ended = await charge.invoke(callOf(input, config));
    expect(ended).toMatchObject({ failure: { cause, permanent } });
    expect("failure" in ended && ended.failure.message.startsWith(path)).toBe(true);
  },
);

test("an output that does not fit its own schema is contract_violated, which a policy may retry", async () => {
  const liar = defineHandler({
    type: "t",
    output: z.object({ n: z.number() }),
    run: (): { n: number } => JSON.parse('{"n":"no"}'),
  });
  expect(await liar.invoke(callOf())).toMatchObject({
    failure: {
      cause: "contract_violated",
      permanent: false,
      message: expect.stringContaining("n: "),
    },
  });
});

test("a result holds a handle, a delay and tokens beside its output", async () => {
  const usage = { inputTokens: 3, outputTokens: 4 };
  const handler = defineHandler({
    type: "t",
    output: z.string(),
    run: async () => result("yes", { handle: "left", queueDelayMs: 5, usage }),
  });
  expect(await handler.invoke(callOf())).toEqual({
    result: { outputJson: '"yes"', handle: "left", queueDelayMs: 5, usage },
  });
});

test("a throw after the signal, and Cancelled, are cancellations", async () => {
  const aborted = { ...callOf(), signal: AbortSignal.abort(new Error("over")) };
  const thrower = defineHandler({
    type: "t",
    run: (_input, ctx) => ctx.signal.throwIfAborted(),
  });
  expect(await thrower.invoke(aborted)).toMatchObject({ failure: { cause: "cancelled" } });
  const leaver = defineHandler({
    type: "t",
    run: () => {
      throw new Cancelled();
    },
  });
  expect(await leaver.invoke(callOf())).toMatchObject({ failure: { cause: "cancelled" } });
});

test("schemas are published as JSON Schema 2020-12: what the input takes, and what the output gives", () => {
  const input = JSON.parse(charge.schemas.input);
  expect(input).toMatchObject({
    $schema: "https://json-schema.org/draft/2020-12/schema",
    required: ["customer", "cents"],
  });
  expect(JSON.parse(charge.schemas.output)).toMatchObject({ required: ["receipt", "at"] });
  expect(JSON.parse(charge.schemas.config)).not.toHaveProperty("required");
});

test("a schema without a JSON form, or with too large a one, is not published and still checked", async () => {
  const input = z.object({ at: z.date() });
  const dated = defineHandler({ type: "t", input, run: () => 1 });
  expect(dated.schemas).toEqual({
    ...{ input: "", output: "", config: "" },
    faults: [
      "the schema of the input is not published: Error: Date cannot be represented in JSON Schema",
    ],
  });
  expect(await dated.invoke(callOf("{}"))).toMatchObject({ failure: { cause: "input_invalid" } });
  const large = z.enum(["a", ...Array.from({ length: 5_000 }, (_, at) => `value-${at}`)]);
  expect(defineHandler({ type: "t", input: large, run: () => 1 }).schemas.input).toBe("");
});

const evenOnly = (
  validate: StandardSchema<number>["~standard"]["validate"],
): StandardSchema<number> => ({ "~standard": { version: 1, vendor: "acme", validate } });

test("any Standard Schema works; one without JSON Schema publishes none, one that waits is refused", async () => {
  const even = evenOnly((value) =>
    typeof value === "number" && value % 2 === 0
      ? { value }
      : { issues: [{ message: "must be even", path: [{ key: "n" }, 0] }] },
  );
  const handler = defineHandler({ type: "t", input: even, run: (n) => n / 2 });
  expect(handler.schemas.input).toBe("");
  expect(await handler.invoke(callOf("4"))).toMatchObject({ result: { outputJson: "2" } });
  expect(await handler.invoke(callOf("3"))).toMatchObject({
    failure: { cause: "input_invalid", message: "n.0: must be even" },
  });
  const slow = defineHandler({
    type: "t",
    input: evenOnly(async (value) => ({ value: Number(value) })),
    run: () => 1,
  });
  expect(await slow.invoke(callOf("4"))).toMatchObject({ failure: { cause: "input_invalid" } });
});

test.each(["", ".a", "a@", "a@1234567", "a b", "x".repeat(129)])("%j is no node type", (type) => {
  expect(() => defineHandler({ type, run: () => 1 })).toThrow(TypeError);
});
