import fc from "fast-check";
import { expect, test } from "vitest";
import { LIMITS } from "../data/limits.ts";
import { startTime, waitLeftMs } from "./start-time.ts";

fc.configureGlobal({ seed: 1 });

const NOW = Date.UTC(2026, 0, 1);

test("a run starts at the time that was asked for, never before its acceptance and never later than the limit (S4.4)", () => {
  fc.assert(
    fc.property(
      fc.boolean(),
      fc.integer({ min: -2 * LIMITS.startDelayMsMax, max: 2 * LIMITS.startDelayMsMax }),
      fc.constantFrom(0, 0.25, 0.5),
      (isDelay, whole, part) => {
        const ms = whole + part;
        const asked = isDelay
          ? ({ kind: "after", ms } as const)
          : { kind: "at" as const, at: NOW + ms };
        const found = startTime(asked, NOW);
        if (found.kind === "later") {
          expect(found.startAt).toBe(Math.ceil(NOW + ms));
          expect(waitLeftMs(found, NOW)).toBe(found.startAt - NOW);
          expect(waitLeftMs(found, found.startAt)).toBe(0);
        } else expect(found.kind).toBe(ms <= 0 ? "at_once" : "too_far");
        if (ms > LIMITS.startDelayMsMax + 1) expect(found.kind).toBe("too_far");
        if (ms > 0 && ms <= LIMITS.startDelayMsMax) expect(found.kind).toBe("later");
      },
    ),
  );
});

test("a run without a time starts at once", () => {
  expect(startTime(undefined, NOW)).toEqual({ kind: "at_once" });
  expect(waitLeftMs({}, NOW)).toBe(0);
});
