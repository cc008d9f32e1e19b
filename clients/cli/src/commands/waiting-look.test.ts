import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { lookWhileQuiet, QUIET_MS } from "./follow.ts";

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

function setup(answers: readonly (string | Error)[]) {
  const shown: string[] = [];
  let asked = 0;
  const look = lookWhileQuiet(
    async () => {
      const answer = answers[Math.min(asked++, answers.length - 1)] ?? "";
      if (answer instanceof Error) throw answer;
      return answer;
    },
    (reason) => void shown.push(reason),
  );
  return { shown, look, asked: () => asked };
}

test("the command does not ask why a run waits while the run makes progress", async () => {
  const { look, asked, shown } = setup(["no executor"]);
  for (let turn = 0; turn < 5; turn++) {
    await vi.advanceTimersByTimeAsync(QUIET_MS - 1);
    look.reset();
  }
  look.stop();
  await vi.advanceTimersByTimeAsync(QUIET_MS * 10);
  expect([asked(), shown]).toEqual([0, []]);
});

test("a quiet run says once what it waits for, and takes it back when something happens", async () => {
  const { look, asked, shown } = setup(["no executor", new Error("away"), "no executor"]);
  await vi.advanceTimersByTimeAsync(QUIET_MS * 3);
  expect([asked(), shown]).toEqual([3, ["no executor"]]);
  look.reset();
  expect(shown).toEqual(["no executor", ""]);
  look.stop();
});
