import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import { createMemoryStore } from "@pawl/platform/store/memory/store";
import { expect, test } from "vitest";
import { turns } from "../../../../test/support/until.ts";
import { Tick } from "./tick.ts";
import { createEngine } from "./tick.fixture.ts";

setFlagsFromString("--expose-gc");
const collectGarbage = runInNewContext("gc") as () => void;

test("a tick keeps no reference to earlier ticks", async () => {
  const store = createMemoryStore({ now: () => 1_000 });
  const {
    journal,
    cache,
    definitions,
    connected: executors,
    waiting,
    known,
  } = createEngine(store, () => 1_000);
  const aside = { has: () => false };
  const now = (): number => 1_000;
  const how = { handsOff: true, completesGlue: false, tell: () => {} };
  const parts = {
    journal,
    cache,
    definitions,
    executors,
    waiting,
    pauses: known,
    aside,
    now,
    ...how,
  };
  const options = { claimMax: 1 };
  const seen: WeakRef<Tick>[] = [];
  let last = new Tick(parts, options);
  for (let count = 0; count < 10; count += 1) {
    const tick = new Tick(parts, { below: last, ...options });
    await last.commit();
    seen.push(new WeakRef(last));
    last = tick;
  }
  // What was looked at in a turn of the event loop is kept to its end.
  await turns(2);
  collectGarbage();
  const kept = seen.filter((tick) => tick.deref() !== undefined);
  expect(kept.length).toBeLessThanOrEqual(2);
  expect(last.isOver).toBe(false);
});
