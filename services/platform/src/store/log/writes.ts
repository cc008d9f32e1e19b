// Appends stream deltas to the log, in the transaction of a tick that has locked the rows of the runs.

import { flag, lists, number, text } from "../../db/columns.ts";
import { queriesBeside, type Send, valuesOf } from "../../db/query.ts";
import { type ClaimKey, EXECUTION, LEASE, type LeaseKey } from "../leases/leases.ts";
import type { StreamedFact } from "./log.ts";

const declare = queriesBeside(import.meta.url);

const FACT = { ...LEASE, type: text(), ordinal: number() };
const makeRoom = declare("make_room", lists(FACT), { held: flag() });
const append = declare("append_streamed", lists({ ...FACT, payload: text() }));
const nextDeltas = declare("next_deltas", lists(EXECUTION), { next: number() });

/** Appends stream deltas without a new version of the run. Returns for each fact whether its claim holds. */
export async function appendStreamed(
  send: Send,
  sent: readonly StreamedFact[],
): Promise<readonly boolean[]> {
  const facts = once(sent);
  const values = valuesOf(makeRoom, facts);
  const counted = send(makeRoom, values);
  void send(append, { ...values, payload: facts.map(({ payload }) => JSON.stringify(payload)) });
  const rows = await counted;
  const held = new Set(facts.filter((_, at) => rows[at]?.held === true).map(claimKey));
  return sent.map((fact) => held.has(claimKey(fact)));
}

/** The index that the next delta of each execution must have. */
export async function findNextDeltas(
  send: Send,
  keys: readonly LeaseKey[],
): Promise<readonly number[]> {
  const rows = await send(nextDeltas, valuesOf(nextDeltas, keys));
  return rows.map(({ next }) => next);
}

const claimKey = ({ runId, nodeId, iteration, epoch, executorId }: ClaimKey): string =>
  `${runId}/${nodeId}/${iteration}/${epoch}/${executorId}`;

/** Removes facts that an executor sent twice in one batch. The statements find those that are in the log. */
function once(facts: readonly StreamedFact[]): readonly StreamedFact[] {
  const seen = new Map<string, StreamedFact>();
  for (const fact of facts) {
    const key = `${claimKey(fact)} ${fact.type} ${fact.ordinal}`;
    if (!seen.has(key)) seen.set(key, fact);
  }
  return [...seen.values()];
}
