// A request id, or an input, that was used before refuses its whole batch by a unique index. Then, and only then, the request
// ids and input keys of the batch are looked up: repeats are answered with the run they started, misuse of a request id with
// REQUEST_ID_REUSED, the rest goes on. A caller's own request id wins over the key of its input.

import { EngineError } from "@pawl/core/fault/engine-error";
import type { RunId } from "@pawl/core/name/ids";
import type { Journal } from "@pawl/platform/store/tick/journal";
import type { Input, StartInput } from "../inputs/input.ts";

/** Answers the repeats in a batch. What is left goes on now, except second submissions of one request: those go on later. */
export async function answerDuplicates(
  journal: Journal,
  batch: readonly Input[],
): Promise<{ readonly now: readonly Input[]; readonly later: readonly Input[] }> {
  const starts = batch.filter((input) => input.kind === "start" && namesOf(input).length > 0);
  const byTenant = Map.groupBy(starts as StartInput[], (start) => start.tenantId);
  const answered = new Set<Input>();
  const later = new Set<Input>();
  for (const [tenantId, inputs] of byTenant) {
    const used = await findUsed(journal, tenantId, inputs);
    const seen = new Set<string>();
    for (const input of inputs) {
      if (answer(input, used)) answered.add(input);
      else if (namesOf(input).some((name) => seen.has(name))) later.add(input);
      for (const name of namesOf(input)) seen.add(name);
    }
  }
  return {
    now: batch.filter((input) => !answered.has(input) && !later.has(input)),
    later: [...later],
  };
}

/** By what a start may be a repeat of another one. */
const namesOf = ({ requestId, inputKey }: StartInput): string[] => [
  ...(requestId === null ? [] : [`request ${requestId}`]),
  ...(inputKey === undefined ? [] : [`input ${inputKey.key}`]),
];

interface Used {
  readonly requests: ReadonlyMap<string, { readonly runId: RunId; readonly requestHash: string }>;
  readonly inputs: ReadonlyMap<string, RunId>;
}

async function findUsed(
  journal: Journal,
  tenantId: string,
  inputs: readonly StartInput[],
): Promise<Used> {
  const ids = inputs.flatMap(({ requestId }) => (requestId === null ? [] : [requestId]));
  const keys = inputs.flatMap(({ inputKey }) => (inputKey === undefined ? [] : [inputKey.key]));
  const requests = ids.length === 0 ? [] : await journal.findRequest(tenantId, ids);
  const kept = keys.length === 0 ? [] : await journal.findInputKeys(tenantId, keys);
  return {
    requests: new Map(requests.map((row) => [row.requestId, row])),
    inputs: new Map(kept.map((row) => [row.inputKey, row.runId])),
  };
}

/** False when the start is no repeat. */
function answer(input: StartInput, used: Used): boolean {
  const request = used.requests.get(input.requestId ?? "");
  if (request !== undefined && request.requestHash !== input.requestHash) {
    input.answer.reject(requestReused(input.requestId ?? "", request.runId));
    return true;
  }
  const runId = request?.runId ?? used.inputs.get(input.inputKey?.key ?? "");
  if (runId === undefined) return false;
  input.answer.resolve({ runId, duplicate: true, lastSeq: 0, isPaused: false });
  return true;
}

/** A request id that started `runId` is said again with another body. */
export const requestReused = (requestId: string, runId: string): EngineError =>
  new EngineError(
    "REQUEST_ID_REUSED",
    "This request id was used before with another body; use a new one.",
    { metadata: { request_id: requestId, run_id: runId } },
  );
