// A short form of `npm run stress`: every shape, few runs of each.
import { Client } from "pg";
import { afterAll, beforeAll, expect, test } from "vitest";
import { expectationOf } from "./expectation.ts";
import { SHAPES } from "./shapes.ts";
import { stress } from "./stress.ts";
import { threadFaults, type Turn } from "./thread-oracle.ts";
import { startStressCluster, type StressCluster } from "./stress-cluster.ts";

const RUNS = 4;

let cluster: StressCluster;

beforeAll(async () => {
  cluster = await startStressCluster(1);
});
afterAll(() => cluster.stop());

test("every shape ends as its definition says, whatever is repeated or reordered (S2.10, S2.16, S2.21, S2.23, S2.26, S2.32, S2.37, S3.4, S3.17, S3.48, S3.49, S3.52, S3.53, S4.4)", async ({
  onTestFailed,
}) => {
  onTestFailed(() => console.error(cluster.logs()));
  const { rows, faults } = await stress(cluster, {
    shapes: SHAPES,
    runs: RUNS,
    seed: 1,
    isShort: true,
  });
  expect(faults).toEqual([]);
  expect(rows.map(({ name }) => name)).toEqual([...SHAPES.map(({ name }) => name), "all at once"]);
  for (const { name, expected, got, refused } of rows) {
    expect(got, name).toBe(expected);
    // Void unless there was something to refuse.
    expect(refused, name).toBeGreaterThan(0);
  }
});

const LINE = `
select l.run_id as "runId", (e.value->>'run')::integer as index
from pawl.thread_runs l join pawl.run_events e using (run_id)
where l.thread_id = $1 and e.type = 'run.started'
order by l.position`;

test("the oracle of threads finds a run that nobody asked for, a lost one, one that overtook another, one that read a wrong memory, and one stopped for no reason (S4.4)", async ({
  onTestFinished,
}) => {
  const threadId = "thread-in-line-stress-thread-in-line";
  const db = new Client({ connectionString: cluster.databaseUrl });
  await db.connect();
  onTestFinished(() => db.end());
  const { rows } = await db.query<Pick<Turn, "runId" | "index">>(LINE, [threadId]);
  const well = rows.map((row, at): Turn => ({
    ...{ ...row, multitask: "enqueue", sentAt: at * 2, acceptedAt: at * 2 + 1 },
  }));
  const found = async (turns: readonly Turn[]): Promise<string> =>
    (await threadFaults(db, threadId, turns)).join("\n");
  expect(well).toHaveLength(RUNS);
  expect(await found(well)).toBe("");
  expect(await found(well.slice(1))).toContain("4 runs of 3 accepted");
  const [first] = well;
  const lost = { ...first, runId: "lost" } as Turn;
  expect(await found([...well, lost])).toContain("lost is not in the line");
  const late = well.map((turn) => ({ ...turn, sentAt: -turn.sentAt, acceptedAt: -turn.sentAt }));
  expect(await found(late)).toContain("and is behind it");
  const wrong = well.map((turn) => ({ ...turn, index: turn.index + 1 }));
  expect(await found(wrong)).toContain("begins with");
  await db.query("begin");
  await db.query("update pawl.runs set stop = 'interrupt' where run_id = $1", [first?.runId]);
  expect(await found(well)).toContain("was stopped by interrupt, and no later run asked for it");
  const asked = well.map((turn, at): Turn =>
    at === 0 ? turn : { ...turn, multitask: "interrupt" },
  );
  expect(await found(asked)).toBe("");
  await db.query("rollback");
});

test("the expectation of a run follows from its definition alone (S1.22, S3.20, S3.21)", () => {
  const statusOf = (name: string, run: number): string => {
    const shape = SHAPES.find((each) => each.name === name);
    return shape === undefined ? "" : expectationOf(shape.definition, shape.acts(run)).status;
  };
  expect(statusOf("linear", 0)).toBe("completed");
  expect(statusOf("error in parallel", 0)).toBe("failed");
  const goto = SHAPES.find(({ name }) => name === "goto");
  expect(goto && expectationOf(goto.definition, goto.acts(0))).toMatchObject({
    repeats: 4,
    nodes: { "work#3": "completed", "jump#3": "completed", between: "skipped", end: "completed" },
  });
  expect([0, 1].map((run) => statusOf("moderation hold", run))).toEqual(["completed", "failed"]);
});
