import { expect, test } from "vitest";
import { ATTEMPTS_MAX, judgeCall, secretKeyText } from "./webhook.ts";

const TIMES = { firstMs: 5_000, maxMs: 24 * 3_600_000 };
const call = (statusCode: number, over = {}) => ({
  ...{ statusCode, error: "", isBlocked: false, retryAfterMs: 0 },
  ...over,
});

test("the waits between twelve calls grow from 5 seconds to 24 hours, whatever chance says (S4.6)", () => {
  for (const chance of [0, 0.5, 1]) {
    const waits = Array.from({ length: ATTEMPTS_MAX - 1 }, (_, index) => {
      const verdict = judgeCall(call(500), index + 1, TIMES, chance);
      expect(verdict.state).toBe("pending");
      return verdict.delayMs;
    });
    expect(waits[0]).toBeGreaterThanOrEqual(TIMES.firstMs);
    expect(waits[0]).toBeLessThanOrEqual(TIMES.firstMs * 1.1);
    expect(waits.at(-1)).toBeGreaterThan(20 * 3_600_000);
    expect(waits.at(-1)).toBeLessThanOrEqual(TIMES.maxMs);
    expect(waits.toSorted((a, b) => a - b)).toEqual(waits);
  }
  expect(judgeCall(call(500), ATTEMPTS_MAX, TIMES, 0.5).state).toBe("dead");
});

test("a receiver may ask for a longer wait, and not for a shorter one (S4.6)", () => {
  expect(judgeCall(call(429, { retryAfterMs: 60_000 }), 1, TIMES, 0.5).delayMs).toBe(60_000);
  expect(judgeCall(call(503, { retryAfterMs: 1 }), 1, TIMES, 0.5).delayMs).toBe(5_000);
});

test("success ends a delivery, 410 switches its endpoint off, and a blocked URL is not called again (S4.6, U1)", () => {
  expect(judgeCall(call(204), 1, TIMES, 0)).toMatchObject({ state: "delivered", error: "" });
  expect(judgeCall(call(410), 1, TIMES, 0)).toMatchObject({ state: "dead", isGone: true });
  const blocked = call(0, { error: "the host may not be called", isBlocked: true });
  expect(judgeCall(blocked, 1, TIMES, 0)).toMatchObject({ state: "dead", isGone: false });
  expect(judgeCall(call(302), 1, TIMES, 0).error).toBe("the receiver answered 302");
});

test.each([
  [`whsec_${Buffer.alloc(24).toString("base64")}`, true],
  [`whsec_${Buffer.alloc(64).toString("base64")}`, true],
  [`whsec_${Buffer.alloc(23).toString("base64")}`, false],
  [`whsec_${Buffer.alloc(65).toString("base64")}`, false],
  [Buffer.alloc(32).toString("base64"), false],
  [`whsec_${"_".repeat(43)}=`, false],
  ["", false],
])("the text %s is a secret: %s", (text, isSecret) => {
  expect(secretKeyText(text) !== undefined).toBe(isSecret);
});
