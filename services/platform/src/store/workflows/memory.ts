// Definitions in memory. No call waits between reading and writing, so each call is a transaction.

import type { DefinitionRow, NewDefinition, SaveResult, Workflows } from "./workflows.ts";
import { pauseKey } from "../pauses/memory.ts";
import { pairKey, UniqueViolation } from "../memory/staging.ts";
import type { Tables } from "../memory/store.ts";

export type StoredDefinition = DefinitionRow &
  Pick<NewDefinition, "tenantId" | "requestId" | "requestHash">;

/** The reads and writes that the calls use. */
function lookups({ definitions, workflows }: Tables, now: () => number) {
  const current = (tenantId: string, workflowId: string): StoredDefinition | undefined => {
    const id = workflows.get(pairKey(tenantId, workflowId));
    return id === undefined ? undefined : definitions.get(id);
  };
  const versionsOf = (tenantId: string, workflowId: string): StoredDefinition[] =>
    [...definitions.values()].filter(
      (row) => row.tenantId === tenantId && row.workflowId === workflowId,
    );
  const insert = (definition: NewDefinition): SaveResult => {
    const { definitionId, tenantId, workflowId } = definition;
    if (definitions.has(definitionId)) throw new UniqueViolation("definitions_pkey", definitionId);
    const versions = versionsOf(tenantId, workflowId).map((row) => row.version);
    const version = Math.max(0, ...versions) + 1;
    const row = { ...definition, version, createdAt: now() };
    definitions.set(definitionId, row);
    workflows.set(pairKey(tenantId, workflowId), definitionId);
    return saved(row);
  };
  const findRepeat = (definition: NewDefinition): SaveResult | undefined => {
    const { tenantId, requestId, requestHash } = definition;
    if (requestId === null) return undefined;
    const first = [...definitions.values()].find(
      (row) => row.tenantId === tenantId && row.requestId === requestId,
    );
    if (first === undefined) return undefined;
    return first.requestHash === requestHash ? saved(first) : { kind: "request_reused" };
  };
  return { current, versionsOf, insert, findRepeat };
}

/** Workflows over the tables. */
export function createMemoryWorkflows(tables: Tables, now: () => number): Workflows {
  const { definitions, workflows, runs, pauses, pauseEpoch } = tables;
  const { current, versionsOf, insert, findRepeat } = lookups(tables, now);
  return {
    create: async (definition) => {
      const repeated = findRepeat(definition);
      if (repeated !== undefined) return repeated;
      const taken = current(definition.tenantId, definition.workflowId) !== undefined;
      return taken ? { kind: "exists" } : insert(definition);
    },
    update: async (definition, expectedVersion) => {
      const repeated = findRepeat(definition);
      if (repeated !== undefined) return repeated;
      const row = current(definition.tenantId, definition.workflowId);
      if (row === undefined) return { kind: "missing" };
      if (expectedVersion !== 0 && expectedVersion !== row.version) {
        return { kind: "version_mismatch", currentVersion: row.version };
      }
      return row.digest === definition.digest ? saved(row) : insert(definition);
    },
    remove: async (tenantId, workflowId, force) => {
      if (current(tenantId, workflowId) === undefined) return "missing";
      const live = [...runs.values()].filter(
        (run) => run.tenantId === tenantId && run.workflowId === workflowId && run.endedAt === null,
      );
      if (!force && live.length > 0) return { liveRuns: live.length };
      workflows.delete(pairKey(tenantId, workflowId));
      const held = pauseKey({ scope: "workflow", tenantId, name: workflowId });
      if (live.length === 0 && pauses.delete(held)) pauseEpoch.value += 1;
      return "removed";
    },
    find: async (tenantId, workflowId, version) => {
      const newest = current(tenantId, workflowId);
      if (newest === undefined || version === 0) return newest && toDefinition(newest);
      const row = versionsOf(tenantId, workflowId).find((each) => each.version === version);
      return row && toDefinition(row);
    },
    load: async (definitionId) => {
      const row = definitions.get(definitionId);
      return row && toDefinition(row);
    },
  };
}

const saved = (row: StoredDefinition): SaveResult => ({ kind: "saved", row: toDefinition(row) });

function toDefinition(row: StoredDefinition): DefinitionRow {
  const { tenantId: _tenant, requestId: _request, requestHash: _hash, ...columns } = row;
  return columns;
}
