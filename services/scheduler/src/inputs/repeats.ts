// An executor repeats a result until it hears that it is stored. While nothing can be stored only the latest of them is kept: its
// sender is the one that is still connected, and memory stays bounded however long that takes.

import type { Input, NamedClaim } from "./input.ts";

/** Only its own executor repeats a result: what another one says about the same claim is judged by itself. */
const nameOf = ({ executorId, runId, nodeId, iteration, epoch }: NamedClaim): string =>
  `${executorId}/${runId}/${nodeId}/${iteration}/${epoch}`;

/** Each result once, where it was first and as it was said last; the rest as it is. */
export function withoutRepeats<T>(items: readonly T[], inputOf: (item: T) => Input): T[] {
  const kept: T[] = [];
  const places = new Map<string, number>();
  for (const item of items) {
    const input = inputOf(item);
    const name = input.kind === "outcome" ? nameOf(input.claim) : undefined;
    const place = (name === undefined ? undefined : places.get(name)) ?? kept.length;
    if (name !== undefined) places.set(name, place);
    kept[place] = item;
  }
  return kept;
}
