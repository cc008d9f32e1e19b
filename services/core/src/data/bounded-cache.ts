// A cache with a size limit. When it is full it starts over: entries in use are computed once more, and a hit needs no bookkeeping.

/** Keeps the results of `make` for about the last `size` keys. */
export function boundedCache<Key, Value>(
  size: number,
  make: (key: Key) => Value,
): (key: Key) => Value {
  let recent = new Map<Key, Value>();
  return (key) => {
    const found = recent.get(key);
    if (found !== undefined) return found;
    const made = make(key);
    if (recent.size >= size) recent = new Map();
    recent.set(key, made);
    return made;
  };
}
