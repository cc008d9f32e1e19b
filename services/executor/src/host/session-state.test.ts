import * as fc from "fast-check";
import { SessionState as Shown } from "@pawl/proto/pawl/handler/v1/handler_service_pb";
import { expect, test } from "vitest";
import {
  dueAt,
  nextState,
  openState,
  shownState,
  takesWork,
  type Patience,
  type SessionEvent,
  type SessionState,
} from "./session-state.ts";

const PATIENCE: Patience = { silenceMs: 15_000, resumeMs: 3_000, stallMs: 60_000 };

/** The state after events at their times. */
const after = (...events: readonly (readonly [number, SessionEvent])[]): SessionState =>
  events.reduce(
    (state, [at, event]) => nextState(state, event, { at, patience: PATIENCE }),
    openState(0),
  );

test("a silent process is stalled after silence_ms, and any message brings it back", () => {
  expect(after([14_999, "time"]).link).toBe("open");
  const stalled = after([15_000, "time"]);
  expect(shownState(stalled)).toBe(Shown.STALLED);
  expect(takesWork(stalled)).toBe(false);
  const thawed = after([15_000, "time"], [59_999, "message"]);
  expect(takesWork(thawed)).toBe(true);
  expect(dueAt(thawed, PATIENCE)).toBe(74_999);
});

test("a stalled process is lost when stall_ms have passed since its last message", () => {
  expect(after([15_000, "time"], [59_999, "time"]).end).toBeUndefined();
  expect(after([15_000, "time"], [60_000, "time"]).end).toBe("lost");
});

test("a cut session waits for resume_ms and is then lost", () => {
  expect(shownState(after([100, "cut"]))).toBe(Shown.CUT);
  expect(after([100, "cut"], [3_099, "time"]).end).toBeUndefined();
  expect(takesWork(after([100, "cut"], [3_099, "resumed"]))).toBe(true);
  expect(after([100, "cut"], [3_100, "time"]).end).toBe("lost");
});

test("a message that was read after its stream closed does not open the session", () => {
  expect(after([100, "cut"], [101, "message"]).link).toBe("cut");
});

test("a leaving process gets no work and is over once nothing is left", () => {
  const leaving = after([1, "leaving"]);
  expect(shownState(leaving)).toBe(Shown.DRAINING);
  expect(takesWork(leaving)).toBe(false);
  expect(after([1, "emptied"]).end).toBeUndefined();
  expect(after([1, "leaving"], [2, "emptied"]).end).toBe("over");
  expect(after([1, "leaving"], [2, "cut"], [3_002, "time"]).end).toBe("lost");
});

test("a host that was frozen itself gives the process its whole time again", () => {
  expect(after([15_000, "time"], [600_000, "slept"], [600_001, "time"]).end).toBeUndefined();
  expect(after([100, "cut"], [600_000, "slept"], [602_999, "time"]).end).toBeUndefined();
});

const anyEvent = fc.constantFrom<SessionEvent>(
  "message",
  "cut",
  "resumed",
  "leaving",
  "emptied",
  "time",
);
const history = fc.array(fc.tuple(fc.nat(20_000), anyEvent), { maxLength: 60 });

test("in every history: an ended session never changes, only time loses one, and never before it is due", () => {
  fc.assert(
    fc.property(history, (events) => {
      let state = openState(0);
      let at = 0;
      for (const [ms, event] of events) {
        at += ms;
        const next = nextState(state, event, { at, patience: PATIENCE });
        if (state.end !== undefined) expect(next).toBe(state);
        if (next.end === "lost" && state.end === undefined) {
          expect(event).toBe("time");
          expect(at).toBeGreaterThanOrEqual(dueAt(state, PATIENCE));
          expect(state.link).not.toBe("open");
        }
        if (next.end === "over" && state.end === undefined) expect(state.isLeaving).toBe(true);
        if (takesWork(next)) expect([next.link, next.isLeaving]).toEqual(["open", false]);
        // Looking at the time twice is the same as looking once.
        if (event === "time" && next.link === state.link)
          expect(nextState(next, "time", { at, patience: PATIENCE })).toEqual(next);
        state = next;
      }
    }),
    { seed: 7, numRuns: 500 },
  );
});
