import { expect, test } from "vitest";
import { checkLog } from "./check.ts";

const log = (...types: string[]) => types.map((type, index) => ({ seq: index + 1, type }));
const corruption = (seq: number) =>
  expect.objectContaining({ reason: "EVENT_LOG_CORRUPTION", metadata: { seq: String(seq) } });
const faultOf = (events: { seq: number; type: string }[], options = {}): unknown => {
  try {
    return checkLog(events, options);
  } catch (error) {
    return error;
  }
};

test("a whole log passes, finished or not", () => {
  expect(faultOf(log("run.started", "node.queued", "node.started"))).toBeUndefined();
  expect(faultOf(log("run.started", "node.queued", "run.completed"))).toBeUndefined();
  expect(faultOf([])).toBeUndefined();
});

test("a gap or a repeat aborts the replay and names the seq (S0.37)", () => {
  expect(faultOf([...log("run.started"), { seq: 3, type: "node.queued" }])).toEqual(corruption(3));
  expect(faultOf([...log("run.started", "node.queued"), { seq: 2, type: "node.queued" }])).toEqual(
    corruption(2),
  );
});

test("run.started is first, and only first", () => {
  expect(faultOf(log("node.queued"))).toEqual(corruption(1));
  expect(faultOf(log("run.started", "run.started"))).toEqual(corruption(2));
});

test("nothing lies behind the end of a run", () => {
  expect(faultOf(log("run.started", "run.failed", "node.queued"))).toEqual(corruption(3));
  expect(faultOf(log("run.started", "run.cancelled", "run.completed"))).toEqual(corruption(3));
});

test("with the streamed types left out, seq may jump but never fall", () => {
  const sparse = [...log("run.started"), { seq: 5, type: "node.completed" }];
  expect(faultOf(sparse, { streamedLeftOut: true })).toBeUndefined();
  expect(
    faultOf([...sparse, { seq: 4, type: "run.completed" }], { streamedLeftOut: true }),
  ).toEqual(corruption(4));
});
