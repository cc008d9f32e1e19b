// Continues a run that was interrupted. An ended run never moves, so a new run takes its results over and does the rest, as a repair does.
// The new run joins the line of the thread of the first. It begins with the memory that the thread has then.
//
// Race: two clients resume one run. The id of the request is that of the run, so both get one new run.

import type { RunId } from "@pawl/core/name/ids";
import type { RepairAsked } from "@pawl/platform/wire/repair";
import type { StartAnswer } from "../inputs/input.ts";
import { type RepairParts, repairRun } from "./repair-run.ts";

/** The new run. Undefined if the run was not interrupted. @throws the errors of repairRun */
export async function resumeInterrupted(
  parts: RepairParts,
  tenantId: string,
  runId: RunId,
): Promise<StartAnswer | undefined> {
  const [known] = await parts.journal.load([{ runId, afterSeq: 0 }]);
  const ended = known?.events.at(-1);
  if (ended?.type !== "run.cancelled" || ended.payload.stop !== "interrupt") return undefined;
  const asked: RepairAsked = {
    ...{ runId, fromNodes: [], fromSeq: 0, text: undefined, latest: false, input: undefined },
    ...{ outputs: [], keepNodes: [], keepEffects: true, dryRun: false, planDigest: "" },
    ...{ requestId: `resume:${runId}`, who: "", reason: "" },
  };
  const { accepted } = await repairRun(parts, tenantId, asked, { staysOnThread: true });
  return accepted;
}
