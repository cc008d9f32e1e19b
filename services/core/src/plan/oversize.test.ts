import { expect, test } from "vitest";
import { LIMITS } from "../data/limits.ts";
import { oversizeOf } from "./oversize.ts";

test("a context at its limit with a small definition fits, one byte more names its size", () => {
  expect(oversizeOf(1_000, LIMITS.contextBytes)).toBeUndefined();
  const { cause, message } = oversizeOf(1_000, LIMITS.contextBytes + 1) ?? {};
  expect(cause).toBe("context_too_large");
  expect(message).toContain(
    `takes ${LIMITS.contextBytes + 1} bytes; at most ${LIMITS.contextBytes}`,
  );
});

test("a definition and a context that fit alone and not together are named with both sizes", () => {
  const { cause, message } = oversizeOf(LIMITS.definitionBytes, LIMITS.contextBytes) ?? {};
  expect(cause).toBe("node_too_large");
  expect(message).toContain(`${LIMITS.definitionBytes} bytes with its edges`);
});

test("an item that fits leaves a message room for the names around it", () => {
  expect(LIMITS.itemBytes).toBeLessThan(LIMITS.messageBytes);
  expect(LIMITS.batchBytes).toBeLessThan(LIMITS.itemBytes);
});
