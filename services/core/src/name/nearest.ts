// The known name that a mistyped name probably means.

/** The nearest of `known`, if it is near enough: one mistake in three letters, at most `most` mistakes. */
export function nearestName(name: string, known: Iterable<string>, most = 2): string | undefined {
  let best: string | undefined;
  let slips = Math.min(most, Math.floor(name.length / 3)) + 1;
  for (const each of known) {
    if (each === name || Math.abs(each.length - name.length) >= slips) continue;
    const count = distance(name.toLowerCase(), each.toLowerCase());
    if (count < slips) [best, slips] = [each, count];
  }
  return best;
}

/** The number of letters that were left out, added, changed, or swapped with their neighbour. */
function distance(one: string, other: string): number {
  const rows = [Array.from({ length: other.length + 1 }, (_, at) => at)];
  for (let i = 1; i <= one.length; i++) {
    const [before = [], twoBefore = []] = [rows[i - 1], rows[i - 2]];
    const row = [i];
    for (let j = 1; j <= other.length; j++) {
      const change = (before[j - 1] ?? 0) + (one[i - 1] === other[j - 1] ? 0 : 1);
      const isSwap = i > 1 && j > 1 && one[i - 1] === other[j - 2] && one[i - 2] === other[j - 1];
      const swap = isSwap ? (twoBefore[j - 2] ?? 0) + 1 : Infinity;
      row.push(Math.min((before[j] ?? 0) + 1, (row[j - 1] ?? 0) + 1, change, swap));
    }
    rows.push(row);
  }
  return rows[one.length]?.[other.length] ?? Infinity;
}
