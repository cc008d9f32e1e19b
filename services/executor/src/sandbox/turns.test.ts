import { expect, test } from "vitest";
import { Turns } from "./turns.ts";

test("the share that holds the fewest is next, then the one served longest ago, and within a share the first", () => {
  const turns = new Turns<string>();
  for (const waiter of ["a1", "a2", "a3", "a4"]) turns.wait("a", waiter);
  expect([turns.next(), turns.next()]).toEqual(["a1", "a2"]);
  turns.wait("b", "b1");
  turns.wait("c", "c1");
  turns.wait("b", "b2");
  expect([turns.next(), turns.next()]).toEqual(["b1", "c1"]);
  expect(turns.next()).toBe("b2");
  turns.end("a");
  turns.end("a");
  expect([turns.next(), turns.next(), turns.next()]).toEqual(["a3", "a4", undefined]);
  expect(turns.waiting).toBe(0);
});

test("a newcomer is a share that waits and holds nothing", () => {
  const turns = new Turns<string>();
  turns.begin("a");
  turns.wait("a", "a2");
  expect(turns.hasNewcomer).toBe(false);
  turns.wait("b", "b1");
  expect(turns.hasNewcomer).toBe(true);
  expect(turns.next()).toBe("b1");
  expect(turns.hasNewcomer).toBe(false);
});

test("a dropped or cleared task holds no process", () => {
  const turns = new Turns<string>();
  turns.wait("a", "a1");
  turns.wait("a", "a2");
  turns.wait("b", "b1");
  expect(turns.drop()).toBe("a1");
  expect(turns.clear().toSorted()).toEqual(["a2", "b1"]);
  expect([turns.waiting, turns.next(), turns.hasNewcomer]).toEqual([0, undefined, false]);
});
