import type { EffectClass, EffectStanding } from "@pawl/core/policy/effect";
import { expect, test } from "vitest";
import { memoryLedger } from "../work/memory-ledger.fixture.ts";
import { effectsOf, once } from "./effects.ts";
import { failure, permanentFailure, type HandlerResult } from "./handler.ts";

const NEW: EffectStanding = { state: "new" };
const BEFORE: EffectStanding = { state: "begun_before" };
const COMMITTED: EffectStanding = { state: "committed", resultJson: '{"id":1}' };

async function attempt(
  effectClass: EffectClass,
  standing: EffectStanding,
  gives: HandlerResult = { output: { id: 2 } },
) {
  const ledger = memoryLedger(standing);
  let made = 0;
  const options = { name: "charge", class: effectClass, check: "the bank" };
  const ctx = { effects: effectsOf(ledger, new AbortController().signal) };
  const result = await once(ctx, options, async () => {
    made++;
    return gives;
  });
  return { result, made, committed: ledger.committed.get("charge") };
}

test.each(["transactional", "idempotent", "at_most_once"] as const)(
  "an effect that is new is made and its result recorded, whatever its class: %s",
  async (effectClass) => {
    const { result, made, committed } = await attempt(effectClass, NEW);
    expect(result).toEqual({ output: { id: 2 } });
    expect(made).toBe(1);
    expect(committed).toEqual({ id: 2 });
  },
);

test.each(["transactional", "idempotent", "at_most_once"] as const)(
  "an effect with a result on record is not made again, whatever its class: %s",
  async (effectClass) => {
    const { result, made } = await attempt(effectClass, COMMITTED);
    expect(result).toEqual({ output: { id: 1 } });
    expect(made).toBe(0);
  },
);

test("an effect that may have happened is made again only where a repeat is harmless", async () => {
  expect((await attempt("idempotent", BEFORE)).made).toBe(1);
  expect((await attempt("transactional", BEFORE)).made).toBe(1);
  const { result, made, committed } = await attempt("at_most_once", BEFORE);
  expect(made).toBe(0);
  expect(committed).toBeUndefined();
  expect(result).toMatchObject({
    failed: { cause: "effect_unknown", permanent: true, details: { effect: "charge" } },
  });
  // It says where to look.
  expect(JSON.stringify(result)).toContain("the bank");
});

test("a failure is never recorded, so a policy may try again", async () => {
  const busy = failure("provider_error", "the server answered 503");
  const { result, committed } = await attempt("idempotent", NEW, busy);
  expect(result).toEqual(busy);
  expect(committed).toBeUndefined();
});

test("a failure that a policy would retry is the end of what may happen once", async () => {
  const busy = failure("provider_error", "the server answered 503");
  const { result, committed } = await attempt("at_most_once", NEW, busy);
  expect(result).toMatchObject({ failed: { cause: "effect_unknown", permanent: true } });
  expect(committed).toBeUndefined();
  const wrong = permanentFailure("http_status", "the server answered 400");
  expect((await attempt("at_most_once", NEW, wrong)).result).toEqual(wrong);
});

test("an attempt that is over begins no effect, also when it ends while it asks", async () => {
  const ledger = memoryLedger();
  const controller = new AbortController();
  const effects = effectsOf(
    {
      ...ledger,
      begin: async () => {
        controller.abort(new Error("the claim was lost"));
        return NEW;
      },
    },
    controller.signal,
  );
  await expect(effects.begin("charge", "idempotent")).rejects.toThrow("the claim was lost");
  await expect(effects.begin("other", "idempotent")).rejects.toThrow("the claim was lost");
});

test("a result that the ledger does not take leaves the effect begun", async () => {
  const { result, committed } = await attempt("idempotent", NEW, {
    output: "x".repeat(300 * 1024),
  });
  expect(result).toHaveProperty("output");
  expect(committed).toBeUndefined();
});
