import { expect, test } from "vitest";
import { jobNotificationPayload, parseJobNotifications } from "./jobs.ts";

test("a hint names the earliest job of each type", () => {
  const payload = jobNotificationPayload("a", [
    { nodeType: "http", delayMs: 500 },
    { nodeType: "noop" },
    { nodeType: "http", delayMs: 200 },
  ]);
  expect(parseJobNotifications(payload, "b")).toEqual([
    { nodeType: "http", delayMs: 200 },
    { nodeType: "noop", delayMs: 0 },
  ]);
});

test("a scheduler ignores its own hints and hints that it cannot read", () => {
  expect(parseJobNotifications(jobNotificationPayload("a", [{ nodeType: "noop" }]), "a")).toEqual(
    [],
  );
  expect(parseJobNotifications("b nonsense,@5,x@y", "a")).toEqual([]);
});
