// pawl run top-up.

import { plainRun, runStatusName } from "@pawl/client";
import type { Command } from "commander";
import { amountsOf, type BudgetFlags, budgetFlags } from "../budget-flags.ts";
import { type PauseFlags, pauseFlags, requestIdFlag, type Verb } from "../grammar.ts";
import { print, type Session } from "../session.ts";

export function topUpVerb(run: Command, verb: Verb): void {
  const text = "Raise the budget of a run; a run that paused for its budget continues";
  requestIdFlag(budgetFlags(pauseFlags(verb(run, "top-up <run>", text, topUp))));
}

/** Raises the budget of a run. */
async function topUp(
  session: Session,
  runId: string,
  flags: BudgetFlags & PauseFlags & { readonly requestId?: string },
): Promise<void> {
  const { by, reason, requestId } = flags;
  const options = { by, reason, requestId, signal: session.interrupted };
  const run = await session.client.runs.topUp(runId, amountsOf(flags), options);
  print(session, plainRun(run), () => [`${run.runId} ${runStatusName(run.status)}`]);
}
