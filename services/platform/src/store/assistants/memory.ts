// Assistants in memory, with the rules of their table.

import type { RunId } from "@pawl/core/name/ids";
import { type InTurn, pairKey, type StagedRows } from "../memory/staging.ts";
import type { Tables } from "../memory/store.ts";
import { deleteRunTree } from "../runs/memory.ts";
import { AssistantMoved } from "../tick/journal.ts";
import type {
  AssistantKey,
  AssistantRecord,
  AssistantRun,
  Assistants,
  AssistantSpec,
} from "./assistants.ts";

export interface AssistantRow extends AssistantRecord {
  readonly isDeleted: boolean;
}

const keyOf = ({ tenantId, assistantId }: AssistantKey): string => pairKey(tenantId, assistantId);

/** @throws AssistantMoved */
export function nameAssistant({ assistants, runs }: StagedRows, named: AssistantRun): void {
  const { assistantId, runId } = named;
  const assistant = assistants.get(keyOf(named));
  const run = runs.get(runId);
  if (assistant === undefined || assistant.isDeleted || run === undefined)
    throw new AssistantMoved("an assistant moved on");
  runs.set(runId, { ...run, assistantId });
}

/** Assistants over the tables. */
export function createMemoryAssistants(
  tables: Tables,
  now: () => number,
  inTurn: InTurn,
): Assistants {
  const { assistants, runs, threads } = tables;
  const find = (key: AssistantKey): AssistantRow | undefined => {
    const found = assistants.get(keyOf(key));
    return found?.isDeleted === true ? undefined : found;
  };
  const runsOf = ({ tenantId, assistantId }: AssistantKey) =>
    [...runs.values()].filter(
      (run) => run.tenantId === tenantId && run.assistantId === assistantId,
    );
  const liveRuns = (key: AssistantKey): RunId[] =>
    runsOf(key).flatMap(({ endedAt, runId }) => (endedAt === null ? [runId] : []));
  const write = (key: AssistantKey, spec: AssistantSpec, before?: AssistantRow): AssistantRow => {
    const { tenantId, assistantId } = key;
    const version = (before?.version ?? 0) + 1;
    const times = { createdAt: before?.createdAt ?? now(), updatedAt: now() };
    const row = { tenantId, assistantId, ...spec, version, ...times, isDeleted: false };
    assistants.set(keyOf(key), row);
    return row;
  };
  return {
    create: (key, spec) =>
      inTurn(() => {
        const before = assistants.get(keyOf(key));
        if (before?.isDeleted === true) return undefined;
        return before === undefined
          ? { assistant: write(key, spec), isNew: true }
          : { assistant: before, isNew: false };
      }),
    find: async (key) => find(key),
    update: (key, spec, expectedVersion) =>
      inTurn(() => {
        const before = find(key);
        return before?.version === expectedVersion ? write(key, spec, before) : undefined;
      }),
    liveRuns: async (key) => liveRuns(key),
    close: (key) =>
      inTurn(() => {
        const found = find(key);
        if (found === undefined) return "missing";
        if (liveRuns(key).length > 0) return "busy";
        assistants.set(keyOf(key), { ...found, isDeleted: true });
        return "closed";
      }),
    removeSome: (key) =>
      inTurn(() => {
        if (assistants.get(keyOf(key))?.isDeleted !== true) return "removed";
        for (const { runId } of runsOf(key)) deleteRunTree(tables, runId, now());
        if (runsOf(key).length > 0) return "waits";
        for (const [id, thread] of threads)
          if (thread.tenantId === key.tenantId && thread.assistantId === key.assistantId)
            threads.set(id, { ...thread, assistantId: null });
        assistants.delete(keyOf(key));
        return "removed";
      }),
    closed: async () => [...assistants.values()].filter(({ isDeleted }) => isDeleted),
  };
}
