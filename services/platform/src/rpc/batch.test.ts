import * as fc from "fast-check";
import { expect, test } from "vitest";
import { batches } from "./batch.ts";

fc.configureGlobal({ seed: 1 });

const sizes = fc.array(fc.nat({ max: 150 }), { maxLength: 60 });

test("messages keep every item in order, and hold more than the limit only for a single item", () => {
  fc.assert(
    fc.property(sizes, (items) => {
      const messages = [...batches(items, (size) => size, 100)];
      expect(messages.flat()).toEqual(items);
      for (const message of messages) {
        expect(message.length).toBeGreaterThan(0);
        if (message.length > 1) expect(sum(message)).toBeLessThanOrEqual(100);
      }
    }),
  );
});

test("no two messages beside each other would have fitted in one", () => {
  fc.assert(
    fc.property(sizes, (items) => {
      const messages = [...batches(items, (size) => size, 100)];
      for (const [index, message] of messages.slice(1).entries())
        expect(sum(messages[index] ?? []) + (message[0] ?? 0)).toBeGreaterThan(100);
    }),
  );
});

const sum = (sizesOf: readonly number[]): number => sizesOf.reduce((all, size) => all + size, 0);
