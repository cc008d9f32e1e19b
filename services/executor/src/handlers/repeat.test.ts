import { expect, test } from "vitest";
import { probeHandler } from "./handler-probe.fixture.ts";
import { loopHandler } from "./loop.ts";
import { mapHandler } from "./map.ts";

const body = { type: "noop" };
const loop = async (config: object) =>
  (await probeHandler(loopHandler, { body, ...config })).result;

test("a map answers with its items (S3.30)", async () => {
  const { result } = await probeHandler(mapHandler, { items: [1, { a: 2 }], body });
  expect(result).toEqual({ expand: { items: [1, { a: 2 }] } });
});

test("items that are no list are refused, too many fail for good", async () => {
  expect((await probeHandler(mapHandler, { items: "x", body })).result).toHaveProperty("refused");
  const items = Array.from({ length: 10_001 }, () => 0);
  expect((await probeHandler(mapHandler, { items, body })).result).toMatchObject({
    failed: { cause: "too_many_items", permanent: true },
  });
});

test("a loop goes over items, a number of times, or as often as it takes (S3.30, X13)", async () => {
  expect(await loop({ items: ["a"] })).toEqual({ expand: { items: ["a"], cut: false } });
  expect(await loop({ times: "2" })).toEqual({ expand: { items: [0, 1], cut: false } });
  expect(await loop({ until: "true", max_iterations: 2 })).toEqual({
    expand: { items: [0, 1], cut: true },
  });
});

test("a loop longer than it may be is cut where something can end it, and fails where nothing can (X13)", async () => {
  expect(await loop({ items: [1, 2, 3], until: "true", max_iterations: 2 })).toEqual({
    expand: { items: [1, 2], cut: true },
  });
  expect(await loop({ times: 51 })).toMatchObject({
    failed: { cause: "max_iterations", permanent: true },
  });
});
