// What executors say about their claims, on staged tables: each compares its epoch and its executor with the lease first.

import type { RunEvent } from "@pawl/core/log/event";
import type { RunId } from "@pawl/core/name/ids";
import type * as fenced from "../fenced.ts";
import type { ClaimKey, Extension } from "../leases/leases.ts";
import type { StagedLog } from "./log.ts";
import type { StagedMap } from "./staged-map.ts";
import { effectKey, leaseKey, type EffectRow, type LeaseRow, type RunRow } from "./tables.ts";

interface StagedTables {
  readonly now: number;
  readonly runs: StagedMap<RunId, RunRow>;
  readonly leases: StagedMap<string, LeaseRow>;
  readonly effects: StagedMap<string, EffectRow>;
  readonly log: StagedLog;
}

export class StagedFenced {
  readonly #tables: StagedTables;

  constructor(tables: StagedTables) {
    this.#tables = tables;
  }

  stream(fact: fenced.StreamedFact): boolean {
    const { runs, log, now } = this.#tables;
    const { runId, nodeId, iteration, epoch, ordinal, type } = fact;
    const run = runs.get(runId);
    const lease = this.#lease(fact);
    if (run === undefined || lease === undefined) return false;
    if (log.hasStreamed(runId, epoch, type, ordinal)) return true;
    const seq = run.lastSeq + 1;
    const { attempt } = lease;
    // A copy by way of JSON is what a jsonb column makes of it; the cast restores the pairing of type and payload.
    const payload: unknown = JSON.parse(JSON.stringify(fact.payload));
    const place = { runId, seq, nodeId, iteration, attempt, epoch, at: now };
    log.append({ ...place, type, payload } as RunEvent, ordinal);
    runs.set(runId, { ...run, lastSeq: seq });
    return true;
  }

  begin({ epoch, executorId, ...begin }: fenced.EffectBegin): fenced.Begun {
    const { effects } = this.#tables;
    if (this.#lease({ ...begin, epoch, executorId }) === undefined) return { state: "stale" };
    const key = effectKey(begin);
    const known = effects.get(key);
    if (known === undefined)
      effects.set(key, { ...begin, begunEpoch: epoch, committedEpoch: null, resultJson: null });
    if (known?.resultJson !== undefined && known.resultJson !== null)
      return { state: "committed", resultJson: known.resultJson };
    return { state: (known?.begunEpoch ?? epoch) === epoch ? "new" : "begun_before" };
  }

  commit({ epoch, executorId, resultJson, ...commit }: fenced.EffectCommit): fenced.Committed {
    const { effects } = this.#tables;
    if (this.#lease({ ...commit, epoch, executorId }) === undefined) return "stale";
    const key = effectKey(commit);
    const known = effects.get(key);
    if (known === undefined) return "not_begun";
    if (known.committedEpoch === null)
      effects.set(key, { ...known, committedEpoch: epoch, resultJson });
    return "committed";
  }

  extend(extension: Extension): boolean {
    const { leases, now } = this.#tables;
    const lease = this.#lease(extension);
    if (lease === undefined) return false;
    leases.set(leaseKey(extension), { ...lease, extendedUntil: now + extension.extendMs });
    return true;
  }

  /** The lease, if this is its claim. */
  #lease(claim: ClaimKey): LeaseRow | undefined {
    const lease = this.#tables.leases.get(leaseKey(claim));
    return lease?.epoch === claim.epoch && lease.executorId === claim.executorId
      ? lease
      : undefined;
  }
}
