// The metadata of a run: what its users say about it, to find it again. Each event merges a change.

import { type JsonObject, mergePatch } from "../data/merge-patch.ts";
import { isRecord } from "../data/path.ts";
import type { FactOf, LoggedFact } from "./event.ts";

/** The event that merges a change, which is the text of a JSON object. */
export const metadataFact = (value: string): FactOf<"run.metadata.set"> => ({
  ...{ nodeId: "", iteration: 0, attempt: 0, epoch: 0 },
  type: "run.metadata.set",
  payload: {},
  value,
});

/** The metadata after the event. A log of an earlier build may have the event without a value. */
export function mergeMetadata(state: { metadata: JsonObject }, value: string | undefined): void {
  const patch: unknown = JSON.parse(value ?? "{}");
  if (isRecord(patch)) state.metadata = mergePatch(state.metadata, patch);
}

/** The metadata after all events of a log. Undefined if there are none. */
export function metadataOf(events: readonly LoggedFact[]): string | undefined {
  const merged = { metadata: {} };
  for (const event of events)
    if (event.type === "run.metadata.set") mergeMetadata(merged, event.value);
  return metadataText(merged);
}

/** The metadata as JSON text. Undefined if there are none. */
export function metadataText({ metadata }: { readonly metadata: JsonObject }): string | undefined {
  return Object.keys(metadata).length === 0 ? undefined : JSON.stringify(metadata);
}
