// Graphs by definition id. A definition never changes, so an entry is never stale. The bounds limit memory only. A live run holds its own
// graph, so the scheduler reads a dropped graph again only at the next start.

import { BoundedMap } from "@pawl/core/data/bounded-map";
import { parseSavedDefinition } from "@pawl/core/definition/parse";
import type { Graph } from "@pawl/core/definition/graph";
import { EngineError } from "@pawl/core/fault/engine-error";
import type { DefinitionId } from "@pawl/core/name/ids";
import type { DefinitionRow, Workflows } from "@pawl/platform/store/workflows/workflows";

const GRAPHS_MAX = 500;
/** The bound is in bytes: five hundred of the largest graphs would take gigabytes. */
const BYTES_MAX = 64 * 1024 * 1024;
/** A node takes 1.7 to 2.4 KiB besides its text. The text is kept as objects, as text and as bytes. */
const NODE_BYTES = 2_048;
const COPIES = 3;

export interface DefinitionsOptions {
  readonly max?: number;
  readonly maxBytes?: number;
}

export class Definitions {
  readonly #workflows: Workflows;
  readonly #graphs: BoundedMap<DefinitionId, Graph>;

  constructor(
    workflows: Workflows,
    { max = GRAPHS_MAX, maxBytes = BYTES_MAX }: DefinitionsOptions = {},
  ) {
    this.#workflows = workflows;
    this.#graphs = new BoundedMap(max, maxBytes);
  }

  cached(definitionId: DefinitionId): Graph | undefined {
    return this.#graphs.get(definitionId);
  }

  /** Keeps the graph that `body` was parsed to, and drops the oldest graphs if there is no room. */
  keep(definitionId: DefinitionId, graph: Graph, body: string): void {
    this.#graphs.set(definitionId, graph, graph.nodes.length * NODE_BYTES + body.length * COPIES);
  }

  /** A version of a workflow with its graph. Version 0 is the newest. Undefined if there is none. */
  async find(
    tenantId: string,
    workflowId: string,
    version: number,
  ): Promise<{ readonly row: DefinitionRow; readonly graph: Graph } | undefined> {
    const row = await this.#workflows.find(tenantId, workflowId, version);
    return row === undefined ? undefined : { row, graph: await this.graph(row.definitionId) };
  }

  /** The graph of a saved definition. @throws EVENT_LOG_CORRUPTION if the definition is missing or does not parse. */
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
