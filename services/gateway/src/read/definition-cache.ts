// Definitions are immutable, so a parsed one is good for ever; the cache is bounded by the text it was made of. Two readers
// that miss at once share one load.

import type { Graph } from "@pawl/core/definition/graph";
import { parseSavedDefinition } from "@pawl/core/definition/parse";
import { EngineError } from "@pawl/core/fault/engine-error";
import type { DefinitionId } from "@pawl/core/name/ids";
import type { StoredDefinition } from "@pawl/platform/store/workflows/workflows";

/** A definition ready for the fold. */
export interface LoadedDefinition {
  /** Canonical JSON text. */
  readonly body: string;
  readonly graph: Graph;
  readonly waveOf: (nodeId: string) => number;
}

/** Text; a parsed definition takes some ten times as much. */
const BYTES_MAX = 8 * 1024 * 1024;

/** Keeps the newest used definitions. */
export class DefinitionCache {
  readonly #load: (id: DefinitionId) => Promise<StoredDefinition | undefined>;
  readonly #kept = new Map<DefinitionId, Promise<LoadedDefinition>>();
  readonly #bytes = new Map<DefinitionId, number>();
  #bytesHeld = 0;

  constructor(load: (id: DefinitionId) => Promise<StoredDefinition | undefined>) {
    this.#load = load;
  }

  /** @throws EVENT_LOG_CORRUPTION when the stored text is gone or no longer parses, STORE_UNAVAILABLE */
  async get(id: DefinitionId): Promise<LoadedDefinition> {
    const kept = this.#kept.get(id);
    if (kept !== undefined) {
      // Re-inserting makes it the newest: a Map keeps the order of insertion.
      this.#kept.delete(id);
      this.#kept.set(id, kept);
      return kept;
    }
    const loading = this.#fetch(id);
    this.#kept.set(id, loading);
    try {
      const loaded = await loading;
      this.#account(id, loaded.body.length);
      return loaded;
    } catch (error) {
      this.#kept.delete(id);
      throw error;
    }
  }

  async #fetch(id: DefinitionId): Promise<LoadedDefinition> {
    const stored = await this.#load(id);
    if (stored === undefined) throw corrupt(id, "is not stored");
    const parsed = parseSavedDefinition(stored.body);
    if (!parsed.ok) throw corrupt(id, "no longer parses");
    const { graph } = parsed;
    const waves = new Map<string, number>();
    for (const node of graph.nodes) waves.set(node.definition.id, node.wave);
    return { body: stored.body, graph, waveOf: (nodeId) => waves.get(nodeId) ?? 0 };
  }

  #account(id: DefinitionId, bytes: number): void {
    this.#bytes.set(id, bytes);
    this.#bytesHeld += bytes;
    for (const oldest of this.#kept.keys()) {
      if (this.#bytesHeld <= BYTES_MAX || oldest === id) return;
      this.#kept.delete(oldest);
      this.#bytesHeld -= this.#bytes.get(oldest) ?? 0;
      this.#bytes.delete(oldest);
    }
  }
}

const corrupt = (id: DefinitionId, what: string): EngineError =>
  new EngineError("EVENT_LOG_CORRUPTION", `The definition of this run ${what}.`, {
    metadata: { definition_id: id },
  });
