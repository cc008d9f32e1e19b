import { expect, test } from "vitest";
import { limitText } from "./queued.ts";

test("what waits for a limit says which key, and how much of it there is", () => {
  const slot = { key: "shop-7", limit: 2, scope: "workflow" } as const;
  const rate = { key: "mail", limit: 20, perMs: 1_000, scope: "tenant" } as const;
  expect(limitText({ slot: undefined, rate: undefined })).toBeUndefined();
  expect(limitText({ slot, rate })).toBe(
    'It waits for a slot of concurrency key "shop-7", of which there are 2, and for a start under rate key "mail", 20 in any 1 s.',
  );
});
