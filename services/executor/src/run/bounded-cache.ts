// A cache that cannot grow without limit: when it is full it starts over, which costs one recomputation of what is still in use and
// no bookkeeping per hit.

/** Remembers what `make` gave for the last `size` keys, about. */
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
