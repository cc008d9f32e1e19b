// Graphs by definition id. A definition never changes, so an entry is right for ever; the bounds are for memory only. A live run
// holds its graph itself, so one that had to go is read again at the next start only.

import { parseSavedDefinition } from "@pawl/core/definition/parse";
import type { Graph } from "@pawl/core/definition/graph";
import { EngineError } from "@pawl/core/fault/engine-error";
import type { DefinitionId } from "@pawl/core/name/ids";
import type { DefinitionRow, Workflows } from "@pawl/platform/store/workflows/workflows";

const GRAPHS_MAX = 500;
/** By their size: five hundred of the largest would take gigabytes. */
const BYTES_MAX = 64 * 1024 * 1024;
/** A node takes 1.7 to 2.4 KiB besides its words, which are kept as objects, as text and as bytes. */
const NODE_BYTES = 2_048;
const COPIES = 3;

export interface DefinitionsOptions {
  readonly max?: number;
  readonly maxBytes?: number;
}

interface Entry {
  readonly graph: Graph;
  readonly bytes: number;
}

export class Definitions {
  readonly #workflows: Workflows;
  readonly #max: number;
  readonly #maxBytes: number;
  readonly #entries = new Map<DefinitionId, Entry>();
  #bytes = 0;

  constructor(workflows: Workflows, options: DefinitionsOptions = {}) {
    this.#workflows = workflows;
    this.#max = options.max ?? GRAPHS_MAX;
    this.#maxBytes = options.maxBytes ?? BYTES_MAX;
  }

  cached(definitionId: DefinitionId): Graph | undefined {
    return this.#entries.get(definitionId)?.graph;
  }

  /** Keeps the graph that `body` was parsed to; who came first goes first when there is no room. */
  keep(definitionId: DefinitionId, graph: Graph, body: string): void {
    this.#drop(definitionId);
    const bytes = graph.nodes.length * NODE_BYTES + body.length * COPIES;
    this.#entries.set(definitionId, { graph, bytes });
    this.#bytes += bytes;
    for (const oldest of this.#entries.keys()) {
      if (this.#entries.size <= this.#max && this.#bytes <= this.#maxBytes) return;
      if (oldest !== definitionId) this.#drop(oldest);
    }
  }

  #drop(definitionId: DefinitionId): void {
    this.#bytes -= this.#entries.get(definitionId)?.bytes ?? 0;
    this.#entries.delete(definitionId);
  }

  /** A version of a workflow with its graph, 0 for the newest; undefined when there is none. */
  async find(
    tenantId: string,
    workflowId: string,
    version: number,
  ): Promise<{ readonly row: DefinitionRow; readonly graph: Graph } | undefined> {
    const row = await this.#workflows.find(tenantId, workflowId, version);
    return row === undefined ? undefined : { row, graph: await this.graph(row.definitionId) };
  }

  /** The graph of a saved definition. @throws EVENT_LOG_CORRUPTION when it is gone or no longer parses. */
  async graph(definitionId: DefinitionId): Promise<Graph> {
    const cached = this.cached(definitionId);
    if (cached !== undefined) return cached;
    const row = await this.#workflows.load(definitionId);
    const parsed = row === undefined ? undefined : parseSavedDefinition(row.body);
    if (row === undefined || !parsed?.ok)
      throw new EngineError("EVENT_LOG_CORRUPTION", "The definition of a run cannot be read.", {
        metadata: { definition_id: definitionId },
      });
    this.keep(definitionId, parsed.graph, row.body);
    return parsed.graph;
  }
}
