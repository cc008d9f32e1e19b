import { expect, test } from "vitest";
import { z } from "zod";
import { BEGUN, defineHandler, Failed, runHandler } from "./index.ts";

let charges = 0;

const charge = defineHandler({
  type: "acme.charge@1",
  input: z.object({ customer: z.string(), cents: z.int().positive() }),
  output: z.object({ receipt: z.string() }),
  config: z.object({ bank: z.string().default("main") }),
  run: async ({ cents }, ctx) => {
    const made = await ctx.once("charge", "at_most_once", () => ({ id: `r${++charges}` }));
    if (cents > 1_000)
      throw new Failed("acme.declined", "too much", { permanent: true, details: { cents } });
    await ctx.emit(`paid at attempt ${ctx.attempt}\n`);
    ctx.log("info", ctx.config.bank);
    return { receipt: made.id };
  },
});

const order = { customer: "c1", cents: 500 };

test("a test runs a handler without network and sees all that it did", async () => {
  charges = 0;
  expect(await runHandler(charge, order, { config: { bank: "b" } })).toEqual({
    output: { receipt: "r1" },
    actions: [],
    handle: "",
    queueDelayMs: 0,
    partials: ["paid at attempt 1\n"],
    logs: [{ level: "info", message: "b" }],
    effects: { charge: "committed" },
    ledger: { charge: { id: "r1" } },
  });
});

test("a second attempt with the ledger of the first does not make the effect again", async () => {
  charges = 0;
  const first = await runHandler(charge, { ...order, cents: 5_000 });
  expect(first.failure).toEqual({
    cause: "acme.declined",
    message: "too much",
    permanent: true,
    retryAfterMs: 0,
    details: { cents: 5_000 },
  });
  const second = await runHandler(charge, order, { attempt: 2, ledger: first.ledger });
  expect(second).toMatchObject({ output: { receipt: "r1" }, partials: ["paid at attempt 2\n"] });
  expect(charges).toBe(1);
});

test("an effect at most once that an earlier attempt began is effect_unknown", async () => {
  const ran = await runHandler(charge, order, { attempt: 2, ledger: { charge: BEGUN } });
  expect(ran).toMatchObject({
    failure: { cause: "effect_unknown", permanent: true },
    effects: { charge: "begun" },
  });
});

test("the ledger refuses a name that was begun before, and one that is no name", async () => {
  const twice = defineHandler({
    type: "t",
    run: async (name, ctx) => {
      await ctx.once("a", "idempotent", () => 1);
      return await ctx.once(String(name), "idempotent", () => 2);
    },
  });
  for (const name of ["a", "no name"]) {
    const { failure } = await runHandler(twice, name);
    expect(failure).toMatchObject({ cause: "provider_error" });
  }
  expect(await runHandler(twice, "b")).toMatchObject({ output: 2 });
});

test("wrong input is refused as in a run", async () => {
  const ran = await runHandler(charge, { ...order, cents: -1 });
  expect(ran.failure).toMatchObject({ cause: "input_invalid", permanent: true });
  expect(ran.effects).toEqual({});
});

test("a cancel and a timeout reach the signal, and what follows does not count", async () => {
  const waiter = defineHandler({
    type: "t",
    run: async (_input, ctx) => {
      await new Promise((resolve) => ctx.signal.addEventListener("abort", resolve));
      await ctx.emit("late");
      return ctx.once("late", "idempotent", () => 1);
    },
  });
  const cancelled = await runHandler(waiter, null, { cancelAfterMs: 5 });
  expect(cancelled).toMatchObject({ failure: { cause: "cancelled" }, partials: [], effects: {} });
  const late = await runHandler(waiter, null, { timeoutMs: 5 });
  expect(late).toMatchObject({ failure: { cause: "timeout" }, partials: [], effects: {} });
  const aborted = await runHandler(waiter, null, { signal: AbortSignal.abort() });
  expect(aborted).toMatchObject({ failure: { cause: "cancelled" } });
});

test("a handler that ignores its signal does not hold the test", async () => {
  const deaf = defineHandler({ type: "t", run: () => new Promise(() => undefined) });
  const ran = await runHandler(deaf, null, { cancelAfterMs: 1 });
  expect(ran.failure?.cause).toBe("cancelled");
});

const acting = defineHandler({
  type: "acme.act@1",
  run: (key: unknown, ctx) => {
    ctx.remember(String(key), ctx.memory["seen"]);
    ctx.remember("count", 1);
    ctx.setStatus("failed", { message: "no stock" });
    return null;
  },
});

test("a test gives a handler its memory and sees its actions (S2.37)", async () => {
  const { actions } = await runHandler(acting, "city", { memory: { seen: ["Oslo"] } });
  expect(actions).toEqual([
    { type: "update_memory", values: { city: ["Oslo"], count: 1 } },
    { type: "set_status", status: "failed", message: "no stock" },
  ]);
});

test.each([
  ["__proto__", "action_invalid"],
  ["a.b", "action_invalid"],
])("a handler that remembers %s fails for good, as in a run", async (key, cause) => {
  const memory = { seen: 1 };
  expect(await runHandler(acting, key, { memory })).toMatchObject({
    ...{ actions: [], failure: { cause, permanent: true } },
  });
});

test("a handler that remembers no JSON fails for good, as in a run", async () => {
  const { failure } = await runHandler(acting, "city");
  expect(failure).toMatchObject({ cause: "action_invalid", permanent: true });
});
