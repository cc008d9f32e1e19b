// Parsed definitions. A definition never changes, so a parsed one stays valid. The sum of the texts bounds the cache. Race: two readers
// miss at the same time. They share one load.

import { BoundedMap } from "@pawl/core/data/bounded-map";
import type { Graph } from "@pawl/core/definition/graph";
import { parseSavedDefinition } from "@pawl/core/definition/parse";
import { EngineError } from "@pawl/core/fault/engine-error";
import { executedDefinition } from "@pawl/core/log/execution";
import type { DefinitionId, NodeId } from "@pawl/core/name/ids";
import type { StoredDefinition } from "@pawl/platform/store/workflows/workflows";

/** A definition that is ready for the fold. */
export interface LoadedDefinition {
  /** Canonical JSON text. */
  readonly body: string;
  readonly graph: Graph;
  readonly waveOf: (nodeId: string) => number;
}

/** The bytes of text. A parsed definition takes about ten times as much. */
const BYTES_MAX = 8 * 1024 * 1024;

/** Keeps the definitions that were loaded last. */
export class DefinitionCache {
  readonly #load: (id: DefinitionId) => Promise<StoredDefinition | undefined>;
  readonly #kept = new BoundedMap<DefinitionId, Promise<LoadedDefinition>>(Infinity, BYTES_MAX);

  constructor(load: (id: DefinitionId) => Promise<StoredDefinition | undefined>) {
    this.#load = load;
  }

  /** @throws EVENT_LOG_CORRUPTION if the stored text is missing or does not parse, STORE_UNAVAILABLE */
  async get(id: DefinitionId): Promise<LoadedDefinition> {
    const kept = this.#kept.get(id);
    if (kept !== undefined) return kept;
    const loading = this.#fetch(id);
    this.#kept.set(id, loading);
    try {
      const loaded = await loading;
      this.#kept.set(id, loading, loaded.body.length);
      return loaded;
    } catch (error) {
      this.#kept.delete(id);
      throw error;
    }
  }

  /**
   * The definition by which an execution of a node runs. Undefined if there is no such node. Without the log it takes a map or a loop
   * that runs again for one of its items.
   */
  async executionOf(id: DefinitionId, nodeId: NodeId, iteration: number) {
    return executedDefinition((await this.get(id)).graph, nodeId, iteration);
  }

  async #fetch(id: DefinitionId): Promise<LoadedDefinition> {
    const stored = await this.#load(id);
    if (stored === undefined) throw corrupt(id, "is not stored");
    const parsed = parseSavedDefinition(stored.body);
    if (!parsed.ok) throw corrupt(id, "no longer parses");
    const { graph } = parsed;
    const waves = new Map(graph.nodes.map(({ definition, wave }) => [String(definition.id), wave]));
    return { body: stored.body, graph, waveOf: (nodeId) => waves.get(nodeId) ?? 0 };
  }
}

const corrupt = (id: DefinitionId, what: string): EngineError =>
  new EngineError("EVENT_LOG_CORRUPTION", `The definition of this run ${what}.`, {
    metadata: { definition_id: id },
  });
