// A store for one test, closed when the test is over.

import { onTestFinished } from "vitest";
import type { OpenStore, StoreUnderTest } from "./store.ts";

/** Opens a store of the kind under test. */
export async function setup(open: OpenStore): Promise<StoreUnderTest> {
  const store = await open();
  onTestFinished(() => store.close());
  return store;
}
