import { expect, test } from "vitest";
import { coalesce } from "./coalesce.ts";

test("requests that come during a load share the next load", async () => {
  const batches: number[][] = [];
  const gate = Promise.withResolvers<void>();
  const load = async (keys: readonly number[]) => {
    batches.push([...keys]);
    await gate.promise;
    return keys.map((key) => key * 2);
  };
  const get = coalesce({ load, maxKeys: 3 });
  const first = [get(1), get(2)];
  await Promise.resolve();
  await Promise.resolve();
  const later = [3, 4, 5, 6].map(get);
  gate.resolve();
  expect(await Promise.all([...first, ...later])).toEqual([2, 4, 6, 8, 10, 12]);
  expect(batches).toEqual([[1, 2], [3, 4, 5], [6]]);
});

test("a load that fails fails its own keys only", async () => {
  const load = async (keys: readonly number[]) => {
    if (keys.includes(1)) throw new Error("no");
    return keys;
  };
  const get = coalesce({ load, maxKeys: 1 });
  const [first, second] = await Promise.allSettled([get(1), get(2)]);
  expect([first?.status, second?.status]).toEqual(["rejected", "fulfilled"]);
});

test("keys of one name that wait for a load are loaded once, and a load that has begun is not shared", async () => {
  const batches: string[][] = [];
  const gates = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
  const load = async (keys: readonly string[]) => {
    batches.push([...keys]);
    await gates[batches.length - 1]?.promise;
    return keys.map((key) => `${key}${batches.length}`);
  };
  const get = coalesce({ load, maxKeys: 2, nameOf: (key: string) => key });
  const first = [get("a"), get("b"), get("a")];
  await Promise.resolve();
  await Promise.resolve();
  const later = [get("a"), get("a")];
  gates[0]?.resolve();
  expect(await Promise.all(first)).toEqual(["a1", "b1", "a1"]);
  gates[1]?.resolve();
  expect(await Promise.all(later)).toEqual(["a2", "a2"]);
  expect(batches).toEqual([["a", "b"], ["a"]]);
});
