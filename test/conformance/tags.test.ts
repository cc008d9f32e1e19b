// The tags that the store reads are the tags of the core, for every type of event.

import { nodeId, type RunId } from "@pawl/core/name/ids";
import type { EventType, Fact } from "@pawl/core/log/event";
import { tagOf } from "@pawl/core/log/tags";
import { openPool } from "@pawl/platform/db/pool";
import { readTags } from "@pawl/platform/store/log/reads";
import { expect, onTestFinished, test } from "vitest";
import { freshDatabase } from "../support/postgres.ts";
import { PAYLOADS } from "./every-event.ts";
import { newExecutorId, newRunId } from "./facts.ts";

const VALUES: Partial<Record<EventType, readonly string[]>> = {
  "moderation.flagged": ['{"label":"x","phase":"forged"}', "[1]"],
  "contract.violated": ['[{"path":"a","message":"m"}]', '{"not":"a list"}'],
};

/** One event of every type, with every kind of value it may carry, and an old one without what came later. */
function facts(): Fact[] {
  const place = { nodeId: nodeId("a"), iteration: 1, attempt: 2, epoch: 3 };
  // Each payload above belongs to its type; the union cannot see it.
  const all = (Object.keys(PAYLOADS) as EventType[]).flatMap((type) =>
    [undefined, ...(VALUES[type] ?? [])].map(
      (value) =>
        ({
          ...place,
          type,
          payload: PAYLOADS[type],
          ...(value === undefined ? {} : { value }),
        }) as Fact,
    ),
  );
  const bare = { ...place, attempt: 3 };
  return [
    ...all,
    { ...bare, type: "node.started", payload: { executorId: newExecutorId() } },
    { ...bare, type: "node.completed", payload: { durationMs: 1 } },
  ];
}

async function setup() {
  const database = await freshDatabase();
  const pool = openPool(database.url, { max: 1, name: "pawl-tags" });
  onTestFinished(async () => {
    await pool.end();
    await database.drop();
  });
  const insert = async (runId: RunId, fact: Fact, seq: number): Promise<void> => {
    await pool.query({
      text: `insert into run_events (run_id, seq, type, node_id, iteration, attempt, epoch, ordinal, payload, value)
        values ($1, $2::bigint, $3, $4, $5, $6, $7, $2::bigint::integer, $8, $9)`,
      values: [
        runId,
        seq,
        fact.type,
        fact.nodeId,
        fact.iteration,
        fact.attempt + seq,
        fact.epoch,
        JSON.stringify(fact.payload),
        fact.value ?? null,
      ],
    });
  };
  return { pool, insert };
}

test("the store and the core give every event the same tag and metadata (S1.57, S1.58)", async () => {
  const { pool, insert } = await setup();
  const runId = newRunId();
  const expected: unknown[] = [];
  for (const [index, fact] of facts().entries()) {
    const seq = index + 1;
    await insert(runId, fact, seq);
    const tag = tagOf({ ...fact, attempt: fact.attempt + seq, seq, at: 0 });
    if (tag !== undefined) expected.push({ seq, nodeId: "a", iteration: 1, ...tag });
  }
  const page = { afterSeq: 0, limit: 1_000, nodeId: "" };
  const { tags, hasMore } = await readTags(pool, runId, page);
  const found = tags.map(({ seq, nodeId: node, iteration, tag, metadata }) => ({
    seq,
    nodeId: node,
    iteration,
    tag,
    metadata: JSON.parse(metadata) as unknown,
  }));
  expect(found).toEqual(expected);
  expect(hasMore).toBe(false);
  expect(new Set(tags.map(({ tag }) => tag)).size).toBe(24);
});

test("tags are read by page and by node", async () => {
  const { pool, insert } = await setup();
  const runId = newRunId();
  for (const [index, fact] of facts().slice(0, 6).entries()) {
    await insert(runId, index % 2 === 0 ? { ...fact, nodeId: nodeId("b") } : fact, index + 1);
  }
  const read = async (afterSeq: number, node: string) => {
    const { tags, hasMore } = await readTags(pool, runId, { afterSeq, limit: 2, nodeId: node });
    return [tags.map(({ seq }) => seq), hasMore];
  };
  expect(await read(0, "")).toEqual([[1, 2], true]);
  expect(await read(2, "b")).toEqual([[3, 5], false]);
  expect(await read(4, "a")).toEqual([[6], false]);
});
