// A used request id or input key makes a unique index refuse the whole batch. Only then does the scheduler look up the request ids and
// input keys of the batch. It answers a repeat with the run that the first request started, and a misused request id with
// REQUEST_ID_REUSED. It tries the other inputs again. A caller's own request id has priority over the key of its input.

import type { RunId } from "@pawl/core/name/ids";
import type { Journal } from "@pawl/platform/store/tick/journal";
import { requestReused } from "../inputs/errors.ts";
import type { Input, StartInput } from "../inputs/input.ts";

/** Answers the repeats in a batch. Returns the others: those to try now, and second submissions of one request, to try later. */
export async function answerDuplicates(
  journal: Journal,
  batch: readonly Input[],
): Promise<{ readonly now: readonly Input[]; readonly later: readonly Input[] }> {
  const starts = batch.filter((input) => input.kind === "start" && namesOf(input).length > 0);
  const byTenant = Map.groupBy(starts as StartInput[], ({ start }) => start.tenantId);
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

/** The keys by which a start may repeat another one. */
const namesOf = ({ start: { requestId, inputKey } }: StartInput): string[] => [
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
  const ids = inputs.flatMap(({ start: { requestId } }) => (requestId === null ? [] : [requestId]));
  const keys = inputs.flatMap(({ start }) => start.inputKey?.key ?? []);
  const requests = ids.length === 0 ? [] : await journal.findRequest(tenantId, ids);
  const kept = keys.length === 0 ? [] : await journal.findInputKeys(tenantId, keys);
  return {
    requests: new Map(requests.map((row) => [row.requestId, row])),
    inputs: new Map(kept.map((row) => [row.inputKey, row.runId])),
  };
}

/** False if the start is no repeat. */
function answer({ start, answer: to }: StartInput, used: Used): boolean {
  const request = used.requests.get(start.requestId ?? "");
  if (request !== undefined && request.requestHash !== start.requestHash) {
    to.reject(requestReused({ request_id: start.requestId ?? "", run_id: request.runId }));
    return true;
  }
  const runId = request?.runId ?? used.inputs.get(start.inputKey?.key ?? "");
  if (runId === undefined) return false;
  to.resolve({ duplicate: true, runId });
  return true;
}
