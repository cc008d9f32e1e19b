// The rows of stored values in memory.

import { LIMITS } from "@pawl/core/data/limits";
import type { RunId } from "@pawl/core/name/ids";
import { type InTurn, pairKey, type StagedRows } from "../memory/staging.ts";
import type { Tables } from "../memory/store.ts";
import type { StoredValue, ValueRef, ValueRows } from "./values.ts";

interface ValueRow extends Omit<StoredValue, "digests"> {
  readonly sha256: string;
  readonly digests: readonly string[] | null;
  readonly looseAt: number | null;
}

interface RefRow extends ValueRef {
  readonly isNamed: boolean;
  readonly touchedAt: number;
}

/** The tables of values. */
export const createValueTables = () => ({
  values: new Map<string, ValueRow>(),
  /** By run and digest. */
  refs: new Map<string, RefRow>(),
  /** The digests that threads name, by thread. */
  ofThreads: new Map<string, readonly string[]>(),
  garbage: new Map<string, number>(),
});
type ValueTables = ReturnType<typeof createValueTables>;

const keyOf = ({ runId, sha256 }: ValueRef): string => pairKey(runId, sha256);

/** A transaction names a value. @throws an error with the SQLSTATE of a missing foreign key */
export function referValue({ valueRefs, now }: StagedRows, tables: Tables, ref: ValueRef): void {
  if (!tables.stored.values.has(ref.sha256)) throw missing(ref.sha256);
  const before = valueRefs.get(keyOf(ref));
  valueRefs.set(keyOf(ref), { touchedAt: now, ...before, ...ref, isNamed: true });
}

const missing = (sha256: string): Error =>
  Object.assign(new Error(`there is no value ${sha256}`), { code: "23503" });

/** The run refers to no value any more. */
export function dropReferences({ values, refs }: ValueTables, runId: RunId, now: number): void {
  for (const [key, ref] of refs) {
    if (ref.runId !== runId) continue;
    refs.delete(key);
    loosen(values, ref.sha256, now);
  }
}

function loosen(values: ValueTables["values"], sha256: string, now: number): void {
  const row = values.get(sha256);
  if (row !== undefined) values.set(sha256, { ...row, looseAt: row.looseAt ?? now });
}

/** A thread names these values from now on, and no others. @throws an error with the SQLSTATE of a missing foreign key */
export function nameOfThread(
  { values, ofThreads }: ValueTables,
  threadKey: string,
  sha256s: readonly string[],
  now: number,
): void {
  for (const sha256 of sha256s) if (!values.has(sha256)) throw missing(sha256);
  for (const sha256 of ofThreads.get(threadKey) ?? []) loosen(values, sha256, now);
  if (sha256s.length === 0) ofThreads.delete(threadKey);
  else ofThreads.set(threadKey, sha256s);
}

/** The same over the tables of a memory store. */
export function createMemoryValues(tables: Tables, now: () => number, inTurn: InTurn): ValueRows {
  const { values, refs, garbage } = tables.stored;
  return {
    open: ({ sha256, bytes }) =>
      inTurn(() => {
        const before = values.get(sha256);
        const generation = before?.generation ?? crypto.randomUUID();
        if (before === undefined)
          values.set(sha256, { sha256, bytes, generation, digests: null, looseAt: now() });
        return { generation, isStored: (before?.digests ?? null) !== null };
      }),
    seal: (ref, { generation, digests }) =>
      inTurn(() => {
        const row = values.get(ref.sha256);
        if (row?.generation !== generation) return false;
        values.set(ref.sha256, { ...row, digests });
        const isNamed = refs.get(keyOf(ref))?.isNamed ?? false;
        refs.set(keyOf(ref), { ...ref, isNamed, touchedAt: now() });
        return true;
      }),
    touch: (runId, sha256s) =>
      inTurn(() => {
        const found = sha256s.flatMap((sha256) => refs.get(keyOf({ runId, sha256 })) ?? []);
        for (const ref of found) refs.set(keyOf(ref), { ...ref, touchedAt: now() });
        return new Set(found.map(({ sha256 }) => sha256));
      }),
    find: async (ref) => {
      const row = refs.has(keyOf(ref)) ? values.get(ref.sha256) : undefined;
      if (row === undefined || row.digests === null) return undefined;
      return { generation: row.generation, bytes: row.bytes, digests: row.digests };
    },
    hasClaim: async ({ runId, nodeId, iteration, epoch }) =>
      [...tables.leases.values()].some(
        (lease) =>
          lease.runId === runId &&
          lease.nodeId === nodeId &&
          lease.iteration === iteration &&
          lease.epoch === epoch,
      ),
    sweep: ({ graceMs, limit }) => inTurn(() => sweep(tables.stored, now(), graceMs, limit)),
    garbage: async (limit) =>
      [...garbage].slice(0, limit).map(([generation, parts]) => ({ generation, parts })),
    forget: async (generations) => generations.forEach((each) => garbage.delete(each)),
  };
}

function sweep(
  { values, refs, ofThreads, garbage }: ValueTables,
  now: number,
  graceMs: number,
  limit: number,
): boolean {
  const isOld = (at: number): boolean => at < now - graceMs;
  const unnamed = [...refs.values()].filter((ref) => !ref.isNamed && isOld(ref.touchedAt));
  for (const ref of unnamed.slice(0, limit)) {
    refs.delete(keyOf(ref));
    loosen(values, ref.sha256, now);
  }
  const referred = new Set([...refs.values()].map(({ sha256 }) => sha256));
  for (const sha256 of [...ofThreads.values()].flat()) referred.add(sha256);
  const loose = [...values.values()].filter((row) => row.looseAt !== null && isOld(row.looseAt));
  for (const row of loose.slice(0, limit)) {
    if (referred.has(row.sha256)) values.set(row.sha256, { ...row, looseAt: null });
    else {
      values.delete(row.sha256);
      garbage.set(row.generation, Math.ceil(row.bytes / LIMITS.storedPartBytes));
    }
  }
  return unnamed.length >= limit || loose.length >= limit;
}
