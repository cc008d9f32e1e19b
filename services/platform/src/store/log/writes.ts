// Appends partial output to the log, in the transaction of a tick that has locked the rows of the runs.

import { flag, list, number, text, uuid } from "../../db/columns.ts";
import { columns, queriesBeside, type Send } from "../../db/query.ts";
import { CLAIM_FIELDS, type ClaimKey, type LeaseKey } from "../leases/leases.ts";
import type { StreamedFact } from "./log.ts";

const declare = queriesBeside(import.meta.url);

const FACTS = {
  runId: list(uuid()),
  nodeId: list(text()),
  iteration: list(number()),
  epoch: list(number()),
  executorId: list(uuid()),
  type: list(text()),
  ordinal: list(number()),
};
const makeRoom = declare("make_room", FACTS, { held: flag() });
const append = declare("append_streamed", { ...FACTS, payload: list(text()) });

/** Appends partial output without a new version of its run. Says of each fact whether its claim holds. */
export async function appendStreamed(
  send: Send,
  sent: readonly StreamedFact[],
): Promise<readonly boolean[]> {
  const facts = once(sent);
  const values = columns(facts, [...CLAIM_FIELDS, "type", "ordinal"]);
  const counted = send(makeRoom, values);
  void send(append, { ...values, payload: facts.map(({ payload }) => JSON.stringify(payload)) });
  const rows = await counted;
  const held = new Set(facts.filter((_, at) => rows[at]?.held === true).map(claimKey));
  return sent.map((fact) => held.has(claimKey(fact)));
}

const nextDeltas = declare(
  "next_deltas",
  { runId: list(uuid()), nodeId: list(text()), iteration: list(number()) },
  { next: number() },
);

/** The index that the next delta of each execution must have. */
export async function findNextDeltas(
  send: Send,
  keys: readonly LeaseKey[],
): Promise<readonly number[]> {
  const rows = await send(nextDeltas, columns(keys, ["runId", "nodeId", "iteration"]));
  return rows.map(({ next }) => next);
}

const claimKey = ({ runId, nodeId, iteration, epoch, executorId }: ClaimKey): string =>
  `${runId}/${nodeId}/${iteration}/${epoch}/${executorId}`;

/** A fact that an executor sent twice in one batch counts once. The statements find those that are in the log. */
function once(facts: readonly StreamedFact[]): readonly StreamedFact[] {
  const seen = new Map<string, StreamedFact>();
  for (const fact of facts) {
    const key = `${claimKey(fact)} ${fact.type} ${fact.ordinal}`;
    if (!seen.has(key)) seen.set(key, fact);
  }
  return [...seen.values()];
}
