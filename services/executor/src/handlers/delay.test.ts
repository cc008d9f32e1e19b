import { LIMITS } from "@pawl/core/data/limits";
import { expect, test } from "vitest";
import { delayHandler } from "./delay.ts";
import { probeHandler } from "./handler-probe.fixture.ts";

test.each([1_500, "1500"])(
  "delay asks for its wait and does not wait itself (S3.29)",
  async (delay_ms) => {
    const { result } = await probeHandler(delayHandler, { delay_ms });
    expect(result).toEqual({ output: { delayMs: 1_500 }, queueDelayMs: 1_500 });
  },
);

test.each([-1, 1.5, LIMITS.delayMsMax + 1, "soon", null, Number.NaN])(
  "a delay of %s is refused (D17)",
  async (delay_ms) => {
    expect((await probeHandler(delayHandler, { delay_ms })).result).toHaveProperty("refused");
  },
);
