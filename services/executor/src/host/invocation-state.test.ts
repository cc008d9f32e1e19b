import { expect, test } from "vitest";
import { stepOf, type InvocationEvent, type InvocationState } from "./invocation-state.ts";

const STATES: readonly InvocationState[] = ["queued", "running", "cancelled", "done"];
const EVENTS: readonly InvocationEvent[] = [
  "written",
  "output",
  "effect",
  "answer",
  "ended",
  "abort",
];

test("only a running invocation passes items on, and only a running one settles its attempt", () => {
  for (const state of STATES)
    for (const event of EVENTS) {
      const { act } = stepOf(state, event);
      if (act === "pass" || act === "settle" || act === "broken" || act === "cancel")
        expect(state).toBe("running");
    }
});

test("an invocation that is done stays done", () => {
  for (const event of EVENTS) expect(stepOf("done", event).next).toBe("done");
});

test("a cancelled invocation ends when its function has returned, and begins no effect", () => {
  expect(stepOf("cancelled", "ended").next).toBe("done");
  expect(stepOf("cancelled", "answer")).toEqual({ next: "done", act: "late" });
  expect(stepOf("cancelled", "effect")).toEqual({ next: "cancelled", act: "revoke" });
});

test("an invocation runs from the moment that a stream gets it", () => {
  expect(stepOf("queued", "written")).toEqual({ next: "running", act: "none" });
  for (const state of STATES.slice(1)) expect(stepOf(state, "written").next).toBe(state);
});

test("an invocation that no stream got is taken back", () => {
  expect(stepOf("queued", "abort")).toEqual({ next: "done", act: "withdraw" });
});
