import * as fc from "fast-check";
import { expect, test } from "vitest";
import { InQueue, OutQueue } from "./queue.ts";

fc.configureGlobal({ seed: 1 });

/** What can happen to a stream between two sides. */
type Step = "add" | "send" | "lose" | "repeat" | "confirm" | "cut";
const steps = fc.array(
  fc.constantFrom<Step>("add", "add", "send", "send", "lose", "repeat", "confirm", "cut"),
  { maxLength: 80 },
);

test("whatever a stream loses or repeats, every item arrives once and in order", () => {
  fc.assert(
    fc.property(steps, (all) => {
      const out = new OutQueue<number>(() => 1);
      const into = new InQueue();
      const arrived: number[] = [];
      let added = 0;
      let isLost = false;
      const resume = (): void => {
        out.heard(into.heardSeq);
        out.rewind();
        isLost = false;
      };
      const send = (): void => {
        const message = out.take(3);
        // After a loss the same stream carries nothing more: it is broken.
        if (message !== undefined && !isLost) arrived.push(...(into.accept(message) ?? []));
      };
      for (const step of all) {
        if (step === "add") out.add((added += 1));
        if (step === "send") send();
        if (step === "lose") isLost = out.take(3) !== undefined || isLost;
        if (step === "repeat") out.rewind();
        if (step === "confirm") out.heard(into.heardSeq);
        if (step === "cut") resume();
      }
      resume();
      for (let turn = 0; turn <= added; turn += 1) send();
      expect(arrived).toEqual(Array.from({ length: added }, (_, index) => index + 1));
      out.heard(into.heardSeq);
      expect(out.isEmpty).toBe(true);
    }),
  );
});

test("a gap is refused and changes nothing", () => {
  const into = new InQueue();
  expect(into.accept({ firstSeq: 1, items: ["a", "b"] })).toEqual(["a", "b"]);
  expect(into.accept({ firstSeq: 4, items: ["d"] })).toBeUndefined();
  expect(into.accept({ firstSeq: 0, items: ["z"] })).toBeUndefined();
  expect(into.accept({ firstSeq: 2, items: ["b", "c"] })).toEqual(["c"]);
  expect(into.heardSeq).toBe(3);
});

test("a host that confirms more than was sent makes the queue forget nothing unsent", () => {
  const out = new OutQueue<string>(() => 1);
  out.add("a");
  out.take(1);
  out.add("b");
  out.heard(99);
  expect(out.take(1)).toEqual({ firstSeq: 2, items: ["b"] });
});

test("a message holds at most its bytes, but at least one item", () => {
  const out = new OutQueue<number>((size) => size);
  for (const size of [4, 4, 4, 20, 1]) out.add(size);
  const taken = [out.take(10), out.take(10), out.take(10), out.take(10), out.take(10)];
  expect(taken.map((message) => message?.items)).toEqual([[4, 4], [4], [20], [1], undefined]);
});
