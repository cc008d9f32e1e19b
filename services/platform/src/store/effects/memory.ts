// The effect ledger in memory. The caller compares claims with leases.

import type { EffectClass } from "@pawl/core/policy/effect";
import type { LeaseKey } from "../leases/leases.ts";
import { leaseKey } from "../leases/memory.ts";
import { StagedMap } from "../memory/staging.ts";
import type { Tables } from "../memory/tables.ts";
import type { Begun, Committed, EffectBegin, EffectCommit } from "./effects.ts";

export interface EffectRow extends LeaseKey {
  readonly name: string;
  readonly class: EffectClass;
  readonly begunEpoch: number;
  readonly committedEpoch: number | null;
  /** JSON text; null while the effect is not committed. */
  readonly resultJson: string | null;
}

/** The primary key of an effect. */
const effectKey = (key: LeaseKey & { readonly name: string }): string =>
  `${leaseKey(key)}/${key.name}`;

/** Effects as one transaction sees them. */
export class StagedEffects {
  readonly #rows: StagedMap<string, EffectRow>;

  constructor({ effects }: Tables) {
    this.#rows = new StagedMap(effects);
  }

  begin({ epoch, executorId: _executorId, ...begin }: EffectBegin): Begun {
    const key = effectKey(begin);
    const known = this.#rows.get(key);
    if (known === undefined)
      this.#rows.set(key, { ...begin, begunEpoch: epoch, committedEpoch: null, resultJson: null });
    if (known?.resultJson !== undefined && known.resultJson !== null)
      return { state: "committed", resultJson: known.resultJson };
    return { state: (known?.begunEpoch ?? epoch) === epoch ? "new" : "begun_before" };
  }

  commit({ epoch, resultJson, ...commit }: EffectCommit): Committed {
    const key = effectKey(commit);
    const known = this.#rows.get(key);
    if (known === undefined) return "not_begun";
    if (known.committedEpoch === null)
      this.#rows.set(key, { ...known, committedEpoch: epoch, resultJson });
    return "committed";
  }

  /** Commits. */
  apply(): void {
    this.#rows.apply();
  }
}
