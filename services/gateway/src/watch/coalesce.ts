// Batches requests: all requests that arrive while a load runs share the next load. So an idle reader never waits, and a busy one gets
// larger batches instead of a longer queue.

import { setTimeout as wait } from "node:timers/promises";

interface CoalesceOptions<Key, Value> {
  /** Loads the values in the order of the keys. A failure fails every key of its batch. */
  readonly load: (keys: readonly Key[]) => Promise<readonly Value[]>;
  readonly maxKeys: number;
  /** Names a key. Keys of the same name that wait for the same load are loaded once, and share the value. Default: no key is shared. */
  readonly nameOf?: (key: Key) => string;
  /** The shortest time from the start of one load to the start of the next; default 0. */
  readonly paceMs?: () => number;
}

interface Waiting<Key, Value> {
  readonly key: Key;
  readonly name: string | undefined;
  readonly answer: PromiseWithResolvers<Value>;
}

/** Makes a function for one key from a load of many keys. At most one load, of at most `maxKeys`, runs at a time. */
export function coalesce<Key, Value>(
  options: CoalesceOptions<Key, Value>,
): (key: Key) => Promise<Value> {
  const { load, maxKeys, nameOf, paceMs = () => 0 } = options;
  let startedAt = Number.NEGATIVE_INFINITY;
  let waiting: Waiting<Key, Value>[] = [];
  /** The waiting keys by name. A load that has begun is not shared: it may have missed what the caller wants to see. */
  const named = new Map<string, Promise<Value>>();
  let isLoading = false;

  const pump = async (): Promise<void> => {
    // Wait one turn, so that requests of the same turn share the first load.
    await Promise.resolve();
    while (waiting.length > 0) {
      const leftMs = startedAt + paceMs() - performance.now();
      if (leftMs > 0) await wait(Math.ceil(leftMs));
      startedAt = performance.now();
      const batch = waiting.slice(0, maxKeys);
      waiting = waiting.slice(maxKeys);
      for (const { name } of batch) if (name !== undefined) named.delete(name);
      try {
        const values = await load(batch.map(({ key }) => key));
        // A load answers every key. The cast allows `undefined` as an answer.
        batch.forEach(({ answer }, index) => answer.resolve(values[index] as Value));
      } catch (error) {
        for (const { answer } of batch) answer.reject(error);
      }
    }
    isLoading = false;
  };

  return (key) => {
    const name = nameOf?.(key);
    const shared = name === undefined ? undefined : named.get(name);
    if (shared !== undefined) return shared;
    const answer = Promise.withResolvers<Value>();
    waiting.push({ key, name, answer });
    if (name !== undefined) named.set(name, answer.promise);
    if (!isLoading) {
      isLoading = true;
      void pump();
    }
    return answer.promise;
  };
}
