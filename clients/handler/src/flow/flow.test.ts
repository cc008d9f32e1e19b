import { parseDefinition } from "@pawl/core/definition/parse";
import { readText } from "@pawl/core/definition/read-text";
import { expect, expectTypeOf, test } from "vitest";
import { z } from "zod";
import { defineHandler, expression, flow, type Ref, template, text } from "../index.ts";

const charge = defineHandler({
  type: "acme.charge@1",
  input: z.object({ customer: z.string(), cents: z.int(), tags: z.array(z.string()).optional() }),
  output: z.object({ receipt: z.string(), lines: z.array(z.object({ sku: z.string() })) }),
  config: z.object({ bank: z.string() }),
  run: () => ({ receipt: "r", lines: [] }),
});
const mail = defineHandler({
  type: "acme.mail",
  input: z.object({ to: z.string(), text: z.string() }),
  run: () => null,
});
const input = z.object({ who: z.string(), cents: z.int(), note: z.string().optional() });

const order = flow("order", { input, title: "Order" })
  .node("pay", charge, (refs) => ({ customer: refs.input.who, cents: refs.input.cents }), {
    config: { bank: "main" },
    retry: { attempts: 3 },
    timeout_ms: 5_000,
  })
  .condition("size", (refs) => ({ large: expression`${refs.input.cents} > 1000` }), {
    after: ["pay"],
  })
  .node(
    "thank",
    mail,
    (refs) => ({
      to: refs.input.who,
      text: text`Receipt ${refs.pay.receipt} for {{you}}: ${refs.pay.lines[0]?.sku}`,
    }),
    { after: [{ node: "size", handle: "large" }], moderation: "output" },
  )
  .builtIn("tell", "http", (refs) => ({
    url: text`https://example.com/${refs.pay.receipt}`,
    method: "POST",
    body: refs.pay,
  }));

const YAML = `
id: order
title: Order
input_schema:
  type: object
  properties:
    who: { type: string }
    cents: { type: integer, minimum: -9007199254740991, maximum: 9007199254740991 }
    note: { type: string }
  required: [who, cents]
nodes:
  - id: pay
    type: acme.charge@1
    input: { customer: "{{ctx.input.who}}", cents: "{{ctx.input.cents}}" }
    config: { bank: main }
    retry: { attempts: 3 }
    timeout_ms: 5000
  - id: size
    type: condition
    config: { branches: [{ id: large, when: ctx.input.cents > 1000 }] }
  - id: thank
    type: acme.mail
    input:
      to: "{{ctx.input.who}}"
      text: 'Receipt {{ctx.nodes.pay.receipt}} for \\{{you}}: {{ctx.nodes.pay.lines[0].sku}}'
    moderation: output
  - id: tell
    type: http
    config:
      url: https://example.com/{{ctx.nodes.pay.receipt}}
      method: POST
      body: "{{ctx.nodes.pay}}"
edges:
  - { source: pay, target: size }
  - { source: pay, target: thank }
  - { source: size, target: thank, source_handle: large }
  - { source: pay, target: tell }
`;

test("a flow in code is the same data as YAML, and a valid definition", () => {
  const read = readText(YAML);
  expect(order.definition).toEqual(read.ok ? read.value : read);
  expect(parseDefinition(JSON.stringify(order.definition))).toMatchObject({ ok: true });
});

test("every step gives a new flow, so a beginning can be shared", () => {
  const begun = flow("a").builtIn("one", "noop", () => ({}));
  begun.builtIn("two", "noop", () => ({}));
  expect(begun.definition.nodes).toHaveLength(1);
});

test("a reference has the type of its value, and a wrong field does not compile", () => {
  const begun = flow("typed", { input }).node("pay", charge, (refs) => {
    expectTypeOf(refs.input.who).toExtend<Ref<string>>();
    return { customer: refs.input.who, cents: 5, tags: ["a", refs.input.who] };
  });
  begun.node("a", mail, (refs) => ({
    to: refs.pay.receipt,
    // @ts-expect-error the output of pay has no total
    text: refs.pay.total,
  }));
  // @ts-expect-error cents is a number, and text wants a text
  begun.node("b", mail, (refs) => ({ to: "x", text: refs.input.cents }));
  // @ts-expect-error the note may be absent
  begun.node("c", mail, (refs) => ({ to: "x", text: refs.input.note }));
  // @ts-expect-error the input of mail needs a text
  begun.node("d", mail, () => ({ to: "x" }));
  // @ts-expect-error no node has this id yet
  begun.node("e", mail, () => ({ to: "x", text: "y" }), { after: ["later"] });
  // @ts-expect-error the config of charge has a bank
  begun.node("f", charge, () => ({ customer: "c", cents: 1 }), { config: { bnak: "main" } });
});

test("two nodes with one id, and one named input, are refused", () => {
  const begun = flow("a").builtIn("one", "noop", () => ({}));
  // @ts-expect-error the id is taken
  expect(() => begun.builtIn("one", "noop", () => ({}))).toThrow(TypeError);
  // @ts-expect-error input is the run's input
  expect(() => begun.builtIn("input", "noop", () => ({}))).toThrow(TypeError);
});

test("keys and ids with other letters are written as templates read them", () => {
  const made = flow("a")
    .builtIn("a.b", "noop", () => ({}))
    .builtIn("end", "end", (refs) => ({
      output_parameters: { x: refs["a.b"]["some key"]?.[2], item: template("{{ctx.vars.v}}") },
    })).definition;
  expect(made.nodes[1]).toMatchObject({
    config: {
      output_parameters: { x: '{{ctx.nodes["a.b"]["some key"][2]}}', item: "{{ctx.vars.v}}" },
    },
  });
  expect(parseDefinition(JSON.stringify(made))).toMatchObject({ ok: true });
});

test("patterns that the scheduler cannot run in linear time are left out of the input's schema", () => {
  const made = flow("a", {
    input: z.object({
      mail: z.email(),
      code: z.string().regex(/^[A-Z]{3}$/),
      day: z.string().meta({ colour: "red" }),
    }),
  }).builtIn("one", "noop", () => ({})).definition;
  expect(made["input_schema"]).toMatchObject({
    properties: {
      mail: { type: "string", format: "email" },
      code: { type: "string", pattern: "^[A-Z]{3}$" },
      day: { type: "string" },
    },
  });
  expect(parseDefinition(JSON.stringify(made))).toMatchObject({ ok: true });
});

test("a schema without a JSON form types the input, and any input starts a run", () => {
  const made = flow("a", { input: z.object({ at: z.date() }) }).definition;
  expect(made).not.toHaveProperty("input_schema");
});
