// Changes of a run's metadata. A change is an event of the log. A change that changes nothing is no event, so a repeat is harmless.

import { mergePatch } from "../data/merge-patch.ts";
import { LIMITS } from "../data/limits.ts";
import { utf8Bytes } from "../data/utf8.ts";
import { type Fact, isFinal } from "../log/event.ts";
import { metadataFact } from "../log/metadata.ts";
import type { RunState } from "../log/state.ts";

export type MetadataResult =
  | { readonly kind: "accepted"; readonly facts: readonly Fact[] }
  | { readonly kind: "unchanged" | "finished" | "too_large" };

/** `patch` is the text of a JSON object. */
export function onMetadata(state: RunState, patch: string): MetadataResult {
  if (isFinal(state.status)) return { kind: "finished" };
  // The caller has checked that it is an object.
  const merged = mergePatch(state.metadata, JSON.parse(patch) as Record<string, unknown>);
  const text = JSON.stringify(merged);
  if (text === JSON.stringify(state.metadata)) return { kind: "unchanged" };
  if (utf8Bytes(text) > LIMITS.metadataBytes) return { kind: "too_large" };
  return { kind: "accepted", facts: [metadataFact(patch)] };
}
