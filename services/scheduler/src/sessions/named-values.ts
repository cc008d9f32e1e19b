// The stored values that an outcome names. The executor has stored them for this run, so the run refers to each. An executor that names another
// value, whose digest it knows from elsewhere, gets a failure of its node: a run never reads what it did not store.
//
// Race: a sweep removes a value between this check and the commit. The check starts the grace again, and a commit that takes longer than the
// grace fails by the foreign key.

import type { Reference } from "@pawl/core/data/reference";
import { referencesIn } from "@pawl/core/data/reference";
import { actionReferences } from "@pawl/core/log/references";
import type { RunId } from "@pawl/core/name/ids";
import type { Outcome } from "@pawl/core/plan/result";
import type { ValueStore } from "@pawl/platform/values/value-store";

/** Every stored value that the outcome names. Most outcomes name none. */
export function outcomeReferences(outcome: Outcome): readonly Reference[] {
  const own = referencesIn(textOf(outcome));
  const { actions } = outcome;
  return actions === undefined ? own : [...own, ...actionReferences(actions)];
}

function textOf(outcome: Outcome): string {
  if (outcome.kind === "completed" || outcome.kind === "held") return outcome.outputJson ?? "";
  if (outcome.kind === "expanded") return outcome.itemsJson;
  return outcome.kind === "child_run" ? outcome.inputJson : "";
}

/** The outcome, or a failure if the run does not refer to every value that it names. @throws STORE_UNAVAILABLE */
export async function proven(
  { rows }: Pick<ValueStore, "rows">,
  runId: RunId,
  outcome: Outcome,
  named: readonly Reference[],
): Promise<Outcome> {
  const asked = [...new Set(named.map(({ sha256 }) => sha256))];
  const kept = await rows.touch(runId, asked);
  const missing = asked.find((sha256) => !kept.has(sha256));
  if (missing === undefined) return outcome;
  return {
    kind: "failed",
    cause: "value_missing",
    message: `the executor names the value ${missing}, and has not stored it for this run`,
    permanent: true,
    durationMs: outcome.durationMs,
  };
}
