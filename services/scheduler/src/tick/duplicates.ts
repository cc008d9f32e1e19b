// A request id that was used before refuses its whole batch by a unique index. Then, and only then, the request ids of the
// batch are looked up: repeats are answered with the run they started, misuse with REQUEST_ID_REUSED, the rest goes on.

import { EngineError } from "@pawl/core/fault/engine-error";
import type { Journal } from "@pawl/platform/store/journal";
import type { Input, StartInput } from "./input.ts";

/** Answers the repeats in a batch. What is left goes on now, except second submissions of one request: those go on later. */
export async function answerDuplicates(
  journal: Journal,
  batch: readonly Input[],
): Promise<{ readonly now: readonly Input[]; readonly later: readonly Input[] }> {
  const starts = batch.filter((input) => input.kind === "start" && input.requestId !== null);
  const byTenant = Map.groupBy(starts as StartInput[], (start) => start.tenantId);
  const answered = new Set<Input>();
  const later = new Set<Input>();
  for (const [tenantId, inputs] of byTenant) {
    const ids = inputs.map((input) => input.requestId ?? "");
    const found = await journal.findRequest(tenantId, ids);
    const used = new Map(found.map((row) => [row.requestId, row]));
    const seen = new Set<string>();
    for (const input of inputs) {
      const requestId = input.requestId ?? "";
      const row = used.get(requestId);
      if (row !== undefined) {
        answered.add(input);
        answer(input, row);
      } else if (seen.has(requestId)) later.add(input);
      seen.add(requestId);
    }
  }
  return {
    now: batch.filter((input) => !answered.has(input) && !later.has(input)),
    later: [...later],
  };
}

function answer(input: StartInput, row: { runId: StartInput["runId"]; requestHash: string }): void {
  if (row.requestHash === input.requestHash) {
    input.answer.resolve({ runId: row.runId, duplicate: true, lastSeq: 0 });
    return;
  }
  input.answer.reject(requestReused(input.requestId ?? "", row.runId));
}

/** A request id that started `runId` is said again with another body. */
export const requestReused = (requestId: string, runId: string): EngineError =>
  new EngineError(
    "REQUEST_ID_REUSED",
    "This request id was used before with another body; use a new one.",
    { metadata: { request_id: requestId, run_id: runId } },
  );
