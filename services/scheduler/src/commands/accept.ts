// Gives an accepted start to the loop. The scheduler answers after the commit. The same tick has placed the first nodes.
//
// Race: a user deletes an assistant while runs of assistants start. The transaction that inserts runs locks their assistants and fails
// (`AssistantMoved`). It does not say which assistant is gone, so every start with an assistant looks for its own, and asks again if it is
// still there. A repair and a redrive keep the assistant of the first run, and come here too.

import { EngineError } from "@pawl/core/fault/engine-error";
import type { AcceptedStart } from "@pawl/core/log/start";
import { probe } from "@pawl/platform/lifecycle/probe";
import { AssistantMoved } from "@pawl/platform/store/tick/journal";
import { METRICS } from "@pawl/platform/telemetry/catalogue";
import type { StartAnswer, StartInput } from "../inputs/input.ts";
import type { AdmitParts } from "./parts.ts";
import { assistantNotFound } from "@pawl/platform/wire/assistant";

/** How often a start asks. */
const ROUNDS_MAX = 20;

/** @throws ASSISTANT_NOT_FOUND, THREAD_NOT_FOUND, THREAD_BUSY, REQUEST_ID_REUSED, STORE_UNAVAILABLE */
export async function accept(
  parts: AdmitParts,
  asked: AcceptedStart,
  test?: StartInput["test"],
): Promise<StartAnswer> {
  probe("start.before-submit");
  const input = await parts.values.small(asked.runId, asked.input);
  const start = input === asked.input ? asked : { ...asked, input };
  const about = test === undefined ? { start } : { start, test };
  const accepted = await askLoop(parts, about).catch((error: unknown) =>
    repeatOf(parts, start, error),
  );
  probe("start.after-commit");
  if (!accepted.duplicate) METRICS.runsStarted.add(1, { kind: start.kind });
  return accepted;
}

async function askLoop(
  { loop, assistants }: AdmitParts,
  about: Pick<StartInput, "start" | "test">,
): Promise<StartAnswer> {
  const { tenantId, assistant } = about.start;
  for (let round = 1; ; round++) {
    try {
      return await loop.ask<StartAnswer>((answer) => ({ kind: "start", ...about, answer }));
    } catch (error) {
      if (!(error instanceof AssistantMoved) || assistant === undefined || round === ROUNDS_MAX)
        throw error;
      const { assistantId } = assistant;
      const found = await assistants.find({ tenantId, assistantId });
      if (found === undefined) throw assistantNotFound(assistantId);
    }
  }
}

/** The repeat of a request finds its own run on the thread. @throws the error of any other start */
async function repeatOf(
  { journal }: AdmitParts,
  { tenantId, requestId, requestHash }: AcceptedStart,
  error: unknown,
): Promise<StartAnswer> {
  if (requestId === null || !(error instanceof EngineError) || error.reason !== "THREAD_BUSY")
    throw error;
  const [before] = await journal.findRequest(tenantId, [requestId]);
  if (before?.requestHash !== requestHash) throw error;
  return { duplicate: true, runId: before.runId };
}
