// Test support: an effect ledger of one attempt, in memory. Every effect is new, and tests can read the results.

import type { EffectDoor } from "@pawl/core/handler/served";
import type { EffectClass, EffectStanding } from "@pawl/core/policy/effect";

interface MemoryLedger extends EffectDoor {
  readonly begun: { readonly name: string; readonly class: EffectClass }[];
  readonly committed: Map<string, unknown>;
}

/** A ledger that has `standing` for every effect. */
export function memoryLedger(standing: EffectStanding = { state: "new" }): MemoryLedger {
  const ledger: MemoryLedger = {
    begun: [],
    committed: new Map(),
    begin: async (name, effectClass) => {
      ledger.begun.push({ name, class: effectClass });
      return standing;
    },
    commit: async (name, resultJson) => void ledger.committed.set(name, JSON.parse(resultJson)),
  };
  return ledger;
}
