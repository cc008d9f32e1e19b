// Natural batching: what is asked for while one load is under way is loaded together by the next. An idle reader waits
// for nobody, a busy one gets larger batches instead of a longer queue.

interface Request<Key, Value> {
  readonly key: Key;
  readonly resolve: (value: Value) => void;
  readonly reject: (error: unknown) => void;
}

export interface CoalesceOptions<Key, Value> {
  /** Answers in the order of the keys; its failure fails every key of its batch. */
  readonly load: (keys: readonly Key[]) => Promise<readonly Value[]>;
  readonly maxKeys: number;
  /** Least time from the start of one load to the start of the next, asked before each; default 0. */
  readonly paceMs?: () => number;
}

/** Turns a load of many into a load of one. At most one load of at most `maxKeys` is under way. */
export function coalesce<Key, Value>(
  options: CoalesceOptions<Key, Value>,
): (key: Key) => Promise<Value> {
  const { load, maxKeys, paceMs = () => 0 } = options;
  let startedAt = Number.NEGATIVE_INFINITY;
  let waiting: Request<Key, Value>[] = [];
  let isLoading = false;

  const pump = async (): Promise<void> => {
    // One turn later, so that requests made in the same turn share the first load.
    await Promise.resolve();
    while (waiting.length > 0) {
      const leftMs = startedAt + paceMs() - performance.now();
      if (leftMs > 0) await pause(leftMs);
      startedAt = performance.now();
      const batch = waiting.slice(0, maxKeys);
      waiting = waiting.slice(maxKeys);
      try {
        const values = await load(batch.map((request) => request.key));
        batch.forEach((request, index) => {
          // A load answers every key; the cast keeps `undefined` a legal answer.
          request.resolve(values[index] as Value);
        });
      } catch (error) {
        for (const request of batch) request.reject(error);
      }
    }
    isLoading = false;
  };

  return (key) =>
    new Promise<Value>((resolve, reject) => {
      waiting.push({ key, resolve, reject });
      if (isLoading) return;
      isLoading = true;
      void pump();
    });
}

const pause = (ms: number): Promise<void> =>
  new Promise((resolve) => setTimeout(resolve, Math.ceil(ms)));
