import { expect, test } from "vitest";
import { checkLog, checkRead, type ReadLog } from "./check.ts";

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

const read = (over: Partial<ReadLog>): (() => void) => {
  const events = [
    { seq: 1, type: "run.started" },
    { seq: 2, type: "node.queued" },
    { seq: 3, type: "node.started" },
    // 4 and 5 are partial output.
    { seq: 6, type: "node.completed" },
  ];
  return () => checkRead({ afterSeq: 0, lastSeq: 6, eventCount: 6, events, ...over });
};

test("events read after a cursor reach to the log's end, and the number of all events shows a gap in partial output (S0.37)", () => {
  expect(read({})).not.toThrow();
  expect(read({ eventCount: 5 })).toThrow("a gap");
  expect(read({ eventCount: 7 })).toThrow("repeats");
  expect(read({ lastSeq: 7 })).toThrow("a gap");
  const tail = [{ seq: 6, type: "node.completed" }];
  // The cursor's own event is counted: 3, 4, 5 and 6.
  expect(read({ afterSeq: 3, events: tail, eventCount: 4 })).not.toThrow();
  expect(read({ afterSeq: 3, events: tail, eventCount: 3 })).toThrow("a gap");
  expect(read({ afterSeq: 6, events: [], eventCount: 1 })).not.toThrow();
  expect(read({ afterSeq: 6, events: [], eventCount: 0 })).toThrow("a gap");
});

test("a log that ends before the last folded event is corrupt (S0.36, X5)", () => {
  expect(read({ afterSeq: 7, events: [], eventCount: 0 })).toThrow("lost its end");
});

test("a second beginning, a repeat or an event behind the end is found after a cursor too (S0.37)", () => {
  const after = (events: ReadLog["events"]) => read({ afterSeq: 3, eventCount: 4, events });
  expect(after([{ seq: 4, type: "run.started" }])).toThrow("only the first");
  expect(after([{ seq: 4, type: "run.failed" }])).toThrow("nothing may follow");
  expect(
    after([
      { seq: 4, type: "node.queued" },
      { seq: 4, type: "node.queued" },
    ]),
  ).toThrow("a repeat");
  expect(after([{ seq: 6, type: "run.completed" }])).not.toThrow();
});
