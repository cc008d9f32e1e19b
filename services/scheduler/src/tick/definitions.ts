// Graphs by definition id. A definition never changes, so an entry is right for ever; the bound is for memory only.

import { parseDefinition } from "@pawl/core/definition/parse";
import type { Graph } from "@pawl/core/definition/graph";
import { EngineError } from "@pawl/core/fault/engine-error";
import type { DefinitionId } from "@pawl/core/name/ids";
import type { DefinitionRow, Workflows } from "@pawl/platform/store/workflows";

const GRAPHS_MAX = 500;

export class Definitions {
  readonly #workflows: Workflows;
  readonly #graphs = new Map<DefinitionId, Graph>();

  constructor(workflows: Workflows) {
    this.#workflows = workflows;
  }

  cached(definitionId: DefinitionId): Graph | undefined {
    return this.#graphs.get(definitionId);
  }

  keep(definitionId: DefinitionId, graph: Graph): void {
    this.#graphs.set(definitionId, graph);
    if (this.#graphs.size <= GRAPHS_MAX) return;
    const [oldest] = this.#graphs.keys();
    if (oldest !== undefined) this.#graphs.delete(oldest);
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
    const cached = this.#graphs.get(definitionId);
    if (cached !== undefined) return cached;
    const row = await this.#workflows.load(definitionId);
    const parsed = row === undefined ? undefined : parseDefinition(row.body);
    if (!parsed?.ok)
      throw new EngineError("EVENT_LOG_CORRUPTION", "The definition of a run cannot be read.", {
        metadata: { definition_id: definitionId },
      });
    this.keep(definitionId, parsed.graph);
    return parsed.graph;
  }
}
