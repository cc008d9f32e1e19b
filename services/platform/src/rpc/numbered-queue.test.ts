import * as fc from "fast-check";
import { expect, test } from "vitest";
import { ReceiveQueue, SendQueue } from "./numbered-queue.ts";

/** A cut may lose the newest messages in each direction; it never reorders them. */
type Step =
  | { readonly do: "push" | "withdraw" | "write" | "deliver" | "acknowledge" }
  | { readonly do: "cut" };

const steps = fc.array(
  fc.constantFrom<Step>(
    { do: "push" },
    { do: "push" },
    { do: "write" },
    { do: "deliver" },
    { do: "acknowledge" },
    { do: "withdraw" },
    { do: "cut" },
  ),
  { maxLength: 80 },
);

test("whatever breaks when, every item arrives once and in order", () => {
  fc.assert(
    fc.property(steps, (script) => {
      const sender = new SendQueue<number>(() => 1);
      const receiver = new ReceiveQueue();
      const pushed: number[] = [];
      const arrived: number[] = [];
      let wire: { readonly firstSeq: number; readonly items: number[] }[] = [];
      const deliver = (): void => {
        const message = wire.shift();
        if (message === undefined) return;
        const repeats = receiver.repeats(message.firstSeq, message.items.length);
        // One stream keeps the order, and a new one begins with what is missing: there is never a gap.
        expect(repeats).toBeDefined();
        const fresh = message.items.slice(repeats);
        arrived.push(...fresh);
        receiver.heard += fresh.length;
      };
      const write = (): void => {
        const message = sender.take();
        if (message !== undefined) wire.push(message);
      };
      let next = 0;
      const waiting = new Set<number>();
      for (const step of script) {
        if (step.do === "push") {
          const item = (next += 1);
          pushed.push(item);
          waiting.add(item);
          sender.push(item, () => waiting.delete(item));
        }
        if (step.do === "withdraw") {
          const [item] = waiting;
          if (item !== undefined) {
            expect(sender.withdraw(item)).toBe(true);
            waiting.delete(item);
            pushed.splice(pushed.indexOf(item), 1);
          }
        }
        if (step.do === "write") write();
        if (step.do === "deliver") deliver();
        if (step.do === "acknowledge") expect(sender.acknowledge(receiver.heard)).toBe(true);
        if (step.do === "cut") {
          wire = [];
          sender.rewind();
          sender.acknowledge(receiver.heard);
        }
      }
      for (let left = sender.length; left >= 0; left -= 1) write();
      while (wire.length > 0) deliver();
      expect(arrived).toEqual(pushed);
      expect(sender.acknowledge(receiver.heard)).toBe(true);
      expect(sender.length).toBe(0);
    }),
    { seed: 7, numRuns: 500 },
  );
});

test("a written item cannot be withdrawn, and one that was never written is not acknowledged", () => {
  const queue = new SendQueue<string>(() => 1);
  queue.push("a");
  expect(queue.acknowledge(1)).toBe(false);
  expect(queue.take()).toEqual({ firstSeq: 1, items: ["a"] });
  expect(queue.withdraw("a")).toBe(false);
  expect(queue.acknowledge(2)).toBe(false);
  expect(queue.acknowledge(1)).toBe(true);
  // A late acknowledgement changes nothing.
  expect(queue.acknowledge(0)).toBe(true);
  expect(queue.take()).toBeUndefined();
});

test("a message is cut by bytes, and numbers continue", () => {
  const queue = new SendQueue<string>(() => 700_000);
  for (const item of ["a", "b", "c"]) queue.push(item);
  expect(queue.take()).toEqual({ firstSeq: 1, items: ["a"] });
  expect(queue.take()).toEqual({ firstSeq: 2, items: ["b"] });
  queue.rewind();
  expect(queue.take()).toEqual({ firstSeq: 1, items: ["a"] });
  expect(queue.take()).toEqual({ firstSeq: 2, items: ["b"] });
  expect(queue.take()).toEqual({ firstSeq: 3, items: ["c"] });
});

test("a message holds at most the bytes that are asked for, but at least one item", () => {
  const queue = new SendQueue<number>((size) => size);
  for (const size of [4, 4, 4, 20, 1]) queue.push(size);
  const taken = Array.from({ length: 5 }, () => queue.take(10)?.items);
  expect(taken).toEqual([[4, 4], [4], [20], [1], undefined]);
});

test("the receiver counts repeats and finds gaps", () => {
  const queue = new ReceiveQueue();
  expect(queue.repeats(0, 0)).toBe(0);
  expect(queue.repeats(1, 2)).toBe(0);
  queue.heard = 2;
  expect(queue.repeats(1, 2)).toBe(2);
  expect(queue.repeats(2, 3)).toBe(1);
  expect(queue.repeats(4, 1)).toBeUndefined();
  expect(queue.repeats(0, 1)).toBeUndefined();
});
