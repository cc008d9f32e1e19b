import { expect, test } from "vitest";
import type { EffectClass, EffectStanding } from "../policy/effect.ts";
import { callOf } from "./call.fixture.ts";
import { onceOf } from "./context.ts";
import { Failed } from "./failure.ts";

const NEW: EffectStanding = { state: "new" };
const BEFORE: EffectStanding = { state: "begun_before" };
const COMMITTED: EffectStanding = { state: "committed", resultJson: '{"id":1}' };

async function attempt(
  effectClass: EffectClass,
  standing: EffectStanding,
  gives: () => unknown = () => ({ id: 2 }),
) {
  const call = callOf("null", "", standing);
  let made = 0;
  const make = async () => {
    made++;
    return gives();
  };
  const value = await onceOf(call)("charge", effectClass, make, { check: "the bank" }).catch(
    (error: unknown) => error,
  );
  return { value, made, committed: call.committed.get("charge"), logs: call.logs };
}

const failing = (error: Failed) => () => {
  throw error;
};

test.each(["transactional", "idempotent", "at_most_once"] as const)(
  "an effect that is new is made and its result recorded, whatever its class: %s",
  async (effectClass) => {
    const { value, made, committed } = await attempt(effectClass, NEW);
    expect(value).toEqual({ id: 2 });
    expect(made).toBe(1);
    expect(committed).toEqual({ id: 2 });
  },
);

test.each(["transactional", "idempotent", "at_most_once"] as const)(
  "an effect with a result on record is not made again, whatever its class: %s",
  async (effectClass) => {
    const { value, made } = await attempt(effectClass, COMMITTED);
    expect(value).toEqual({ id: 1 });
    expect(made).toBe(0);
  },
);

test("an effect that may have happened is made again only where a repeat is harmless", async () => {
  expect((await attempt("idempotent", BEFORE)).made).toBe(1);
  expect((await attempt("transactional", BEFORE)).made).toBe(1);
  const { value, made, committed } = await attempt("at_most_once", BEFORE);
  expect(made).toBe(0);
  expect(committed).toBeUndefined();
  expect(value).toMatchObject({
    cause: "effect_unknown",
    options: { permanent: true, details: { effect: "charge" } },
  });
  // The message names the place to check.
  expect(String(value)).toContain("the bank");
});

test("a failure is never recorded, so a policy may try again", async () => {
  const busy = new Failed("provider_error", "the server answered 503");
  const { value, committed } = await attempt("idempotent", NEW, failing(busy));
  expect(value).toBe(busy);
  expect(committed).toBeUndefined();
});

test("a retryable failure of an at-most-once effect is final", async () => {
  const busy = new Failed("provider_error", "the server answered 503");
  const { value, committed } = await attempt("at_most_once", NEW, failing(busy));
  expect(value).toMatchObject({ cause: "effect_unknown", options: { permanent: true } });
  expect(committed).toBeUndefined();
  const wrong = new Failed("http_status", "the server answered 400", { permanent: true });
  expect((await attempt("at_most_once", NEW, failing(wrong))).value).toBe(wrong);
});

test("an attempt that is over begins no effect, also when it ends while it asks", async () => {
  const controller = new AbortController();
  const asked: string[] = [];
  let made = 0;
  const once = onceOf({
    ...callOf(),
    signal: controller.signal,
    effects: {
      begin: async (name) => {
        asked.push(name);
        controller.abort(new Error("the claim was lost"));
        return NEW;
      },
      commit: async () => undefined,
    },
  });
  for (const name of ["charge", "other"])
    await expect(once(name, "idempotent", () => ++made)).rejects.toThrow("the claim was lost");
  expect(asked).toEqual(["charge"]);
  expect(made).toBe(0);
});

test("a result that the ledger does not take leaves the effect begun, and the log says so", async () => {
  const large = "x".repeat(300 * 1024);
  const { value, committed, logs } = await attempt("idempotent", NEW, () => large);
  expect(value).toBe(large);
  expect(committed).toBeUndefined();
  expect(logs).toEqual([expect.stringContaining("result of the effect charge cannot be stored")]);
});
