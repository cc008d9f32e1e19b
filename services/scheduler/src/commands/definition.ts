// Parses and checks a definition that a caller wants to save or to run once. Nothing is written before the whole definition is checked.

import { definitionError } from "@pawl/core/definition/error";
import type { Graph } from "@pawl/core/definition/graph";
import type { KnownTypes } from "@pawl/core/definition/known-types";
import { parseDefinition } from "@pawl/core/definition/parse";
import type { Violation } from "@pawl/core/definition/shape";
import { definitionId } from "@pawl/core/name/ids";
import type { PriceOf } from "@pawl/core/policy/price";
import type { EgressPolicy } from "@pawl/platform/egress/url";
import type { TestGraph } from "@pawl/platform/store/runs/runs";
import { uuidV7 } from "../run-id.ts";
import { sha256 } from "./digest.ts";
import { defaultViolations } from "./response-schema.ts";
import { blockedWebhooks } from "./webhook-rules.ts";

interface ReadDefinition {
  readonly graph: Graph;
  readonly row: TestGraph;
  readonly warnings: readonly Violation[];
}

interface ReadOptions {
  readonly tenantId: string;
  readonly now: number;
  /** The node types that executors serve and publish. Undefined if the scheduler does not know them. */
  readonly types: KnownTypes | undefined;
  /** The addresses that webhooks may lead to. */
  readonly egress: EgressPolicy;
  readonly priceOf?: PriceOf | undefined;
  /** Whether a warning refuses the definition. */
  readonly isStrict?: boolean;
}

/** @throws DEFINITION_INVALID, CYCLE_DETECTED, LIMIT_EXCEEDED */
export function readDefinition(
  text: string,
  { tenantId, now, types, egress, priceOf, isStrict = false }: ReadOptions,
): ReadDefinition {
  const parsed = parseDefinition(text, { types, priceOf });
  if (!parsed.ok) throw definitionError(parsed.violations);
  const { graph, canonicalJson: body, warnings } = parsed;
  if (isStrict && warnings.length > 0) throw definitionError(warnings);
  const misfits = defaultViolations(graph);
  if (misfits.length > 0) throw definitionError(misfits);
  const blocked = blockedWebhooks(graph, egress);
  if (blocked.length > 0) throw definitionError(blocked);
  const row = {
    definitionId: definitionId(uuidV7(now)),
    tenantId,
    digest: sha256(body),
    title: graph.definition.title,
    nodeCount: graph.nodes.length,
    body,
  };
  return { graph, row, warnings };
}

/** The node types of a graph: also of bodies of maps and loops, of tools of agents, and of compensations. The list names each type once. */
export const nodeTypesOf = (graph: Graph): string[] => [
  ...new Set(
    graph.nodes.flatMap(({ definition: { type, scope, compensation } }) => {
      const tools = scope?.agent?.tools ?? [];
      const all = [
        type,
        scope?.body.type,
        compensation?.type,
        ...tools.map(({ body }) => body.type),
      ];
      return all.filter((each) => each !== undefined);
    }),
  ),
];
