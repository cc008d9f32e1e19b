import { expect, test } from "vitest";
import { lowerBudget, lowerLimits } from "./budget.ts";

test("the lower of two limits counts, and what neither names stays open (S2.21)", () => {
  expect(lowerLimits({ tokens: 5, executions: 9 }, { tokens: 7, executions: 2 })).toEqual({
    ...{ tokens: 5, executions: 2 },
  });
  expect(lowerLimits({ tokens: 5, onExceeded: "pause" }, { tokens: 3 })).toEqual({
    ...{ tokens: 3, onExceeded: "pause" },
  });
});

test("a run fails when its budget is exceeded, unless a definition, a caller or the parent says otherwise (S2.21)", () => {
  const onExceeded = (...asked: Parameters<typeof lowerBudget>) =>
    lowerBudget(...asked)?.onExceeded;
  expect(onExceeded({ tokens: 5 }, { tokens: 3 })).toBe("fail");
  expect(onExceeded({ tokens: 5 }, { tokens: 3 }, "pause")).toBe("pause");
  expect(onExceeded({ tokens: 5, onExceeded: "fail" }, { tokens: 3 }, "pause")).toBe("fail");
  // An assistant that lowers the limits of a workflow does not change the rest.
  const assistant = lowerLimits({ tokens: 4 }, { tokens: 3 });
  expect(onExceeded({ tokens: 5, onExceeded: "pause" }, assistant)).toBe("pause");
});
