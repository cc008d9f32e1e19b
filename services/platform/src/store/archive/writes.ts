// Puts an archived run back, in one transaction. `archive.ts` names the races.

import type { RunId } from "@pawl/core/name/ids";
import { flag, number, text, uuid } from "../../db/columns.ts";
import type { Pool } from "../../db/pool.ts";
import { first, queriesBeside, type Queryable, run } from "../../db/query.ts";
import { EVENTS_PAGE } from "../log/log.ts";
import { referValues } from "../values/writes.ts";
import type { Archive, Restoration, RestoredLines, RestoredRun } from "./archive.ts";

const declare = queriesBeside(import.meta.url);

const RUN = { runId: uuid<RunId>() };
const TENANT = { ...RUN, tenantId: text() };
const GRAPH = { definitionId: uuid() };
const LINE = { line: text() };
const LINES = { lines: text() };

const lock = declare("lock_restore", RUN, { held: flag() });
const exists = declare("exists", RUN, { found: flag() });
const lastLeftover = declare("last_leftover", RUN, { seq: number() });
const leftovers = declare("delete_leftovers", { ...RUN, afterSeq: number(), lastSeq: number() });
const keepGraph = declare("keep_graph", { tenantId: text(), ...LINE });
const digestOf = declare("digest_of_graph", GRAPH, { digest: text(), body: text() });
const keepRun = declare("keep_run", LINE);
const metadata = declare("keep_metadata", { ...RUN, ...LINE });
const request = declare("keep_request", { ...TENANT, ...LINE });
const repair = declare("keep_repair", { ...RUN, ...LINE });
const thread = declare("keep_place", { ...TENANT, ...LINE, runLine: text() });
const effects = declare("keep_effects", { ...RUN, ...LINES });
const approvals = declare("keep_approvals", { ...TENANT, ...LINES });
const letters = declare("keep_dead_letters", { ...TENANT, ...LINES });
const events = declare("keep_events", { ...RUN, ...LINES });

/** The graph in the database differs from that of the file. It ends the transaction. */
class OtherGraph extends Error {}

/** The archive over a pool. */
export const createArchive = (pool: Pool): Archive => ({
  restore: async (restored) => {
    try {
      return await pool.transaction((tx) => restore(tx, restored));
    } catch (error) {
      if (error instanceof OtherGraph) return "graph";
      throw error;
    }
  },
});

async function restore(tx: Queryable, restored: RestoredRun): Promise<Restoration> {
  const { runId, values, line } = restored;
  await run(tx, lock, { runId });
  if ((await first(tx, exists, { runId })) !== undefined) return "present";
  const last = (await first(tx, lastLeftover, { runId }))?.seq ?? 0;
  for (let afterSeq = 0; afterSeq < last; afterSeq += EVENTS_PAGE)
    await run(tx, leftovers, { runId, afterSeq, lastSeq: afterSeq + EVENTS_PAGE });
  if (values.length > 0)
    await referValues(
      (query, given) => run(tx, query, given),
      values.map((sha256) => ({ runId, sha256 })),
    );
  for await (const part of restored.rest()) await keep(tx, restored, part);
  await run(tx, keepRun, { line });
  return "restored";
}

async function keep(
  tx: Queryable,
  { tenantId, runId, line: runLine }: RestoredRun,
  { record, lines }: RestoredLines,
): Promise<void> {
  // Each line is JSON without a line break, so the lines in brackets are a list.
  const [line = "", all] = [lines[0], `[${lines.join(",")}]`];
  const given = { runId, tenantId };
  switch (record) {
    case "graph":
      return await restoreGraph(tx, tenantId, line);
    case "metadata":
      return void (await run(tx, metadata, { runId, line }));
    case "request":
      return void (await run(tx, request, { ...given, line }));
    case "repair":
      return void (await run(tx, repair, { runId, line }));
    case "thread":
      return void (await run(tx, thread, { ...given, line, runLine }));
    case "effect":
      return void (await run(tx, effects, { runId, lines: all }));
    case "approval":
      return void (await run(tx, approvals, { ...given, lines: all }));
    case "dead_letter":
      return void (await run(tx, letters, { ...given, lines: all }));
    case "event":
      return void (await run(tx, events, { runId, lines: all }));
  }
}

/** Writes the graph, or proves that the database has the same. */
async function restoreGraph(tx: Queryable, tenantId: string, line: string): Promise<void> {
  await run(tx, keepGraph, { tenantId, line });
  // The reader of the file has checked the shape of the line.
  const { definition_id: definitionId, digest, body } = JSON.parse(line) as Record<string, string>;
  const found = await first(tx, digestOf, { definitionId: definitionId ?? "" });
  if (found?.digest !== digest || found?.body !== body) throw new OtherGraph();
}
