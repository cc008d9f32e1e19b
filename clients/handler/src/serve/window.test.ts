import { expect, test } from "vitest";
import { Window } from "./window.ts";

test("a writer waits while the window is full, and continues when the host has passed a piece on", async () => {
  const window = new Window(new AbortController().signal);
  await window.enter(6, 10);
  let isIn = false;
  const second = window.enter(6, 10).then(() => (isIn = true));
  await Promise.resolve();
  expect(isIn).toBe(false);
  window.passed(1);
  expect(await second).toBe(true);
});

test("with nothing under way a piece larger than the window fits", async () => {
  await new Window(new AbortController().signal).enter(100, 10);
});

test("a cancel wakes a waiting writer with its reason", async () => {
  const abort = new AbortController();
  const window = new Window(abort.signal);
  await window.enter(10, 10);
  const waiting = window.enter(1, 10);
  abort.abort(new Error("cancelled"));
  await expect(waiting).rejects.toThrow("cancelled");
  await expect(window.enter(1, 10)).rejects.toThrow("cancelled");
});

test("a host that counts more pieces than were sent frees no more than all of them", async () => {
  const window = new Window(new AbortController().signal);
  await window.enter(10, 10);
  window.passed(4_000_000_000);
  await window.enter(10, 10);
});
