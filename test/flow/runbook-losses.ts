// Entries of the runbook about executors and databases that fail: each makes its state on the cluster of the runbook, and ends it by the
// commands of the page.
import { randomUUID } from "node:crypto";
import { createPawlClient, type PawlClient } from "@pawl/client";
import { LOOPBACK } from "@pawl/deploy/ports.ts";
import { Client } from "pg";
import { expect } from "vitest";
import { startExecutor } from "../crash/processes.ts";
import type { Cluster } from "../support/cluster.ts";
import { until } from "../support/until.ts";
import { call, graph } from "./graph.ts";
import type { TypedPage } from "./page-commands.ts";
import type { Sink } from "./sink.ts";

/** What the entries share. */
export type RunbookParts = {
  readonly cluster: Cluster;
  readonly pawl: PawlClient;
  readonly sink: Sink;
  readonly page: TypedPage;
  /** Types a block until it prints this. */
  readonly untilPrinted: (
    words: RegExp,
    typed: () => Promise<{ readonly text: string }>,
  ) => Promise<string>;
};

/** Starts a run whose node `work` calls the sink under this name, and waits for the call. */
async function held(
  { pawl, sink }: RunbookParts,
  name: string,
  config: Readonly<Record<string, string>> = {},
): Promise<string> {
  const work = call(sink.url(name), { config: { url: sink.url(name), method: "POST", ...config } });
  await pawl.workflows.apply({ ...graph(["start > work > end"], { work }), id: name });
  const { run } = await pawl.runs.start(name);
  await sink.received(name);
  return run.runId;
}

const hasEnded = ({ pawl }: RunbookParts, runId: string): Promise<unknown> =>
  until(async () => (await pawl.runs.get(runId)).run.endTime, { what: `the end of ${runId}` });

/** Executors die under two nodes until Pawl gives them up. One run is started again, and the letter of the other is closed. */
export async function deadLetters(parts: RunbookParts): Promise<void> {
  const { cluster, pawl, sink, page } = parts;
  const entry = "Dead letters appear";
  const runId = await held(parts, "hold-letter");
  const other = await held(parts, "hold-other");
  for (const death of [1, 2, 3]) {
    await sink.received("hold-letter", death);
    await sink.received("hold-other", death);
    await cluster.executors[0]?.kill("SIGKILL");
    await cluster.executors[0]?.restart();
  }
  for (const id of [runId, other]) await hasEnded(parts, id);
  const names = { RUN: runId, WORKFLOW: "hold-letter" };
  const seen = await page.type(entry, "**Look.**", names);
  expect(seen.text).toMatch(new RegExp(`open +${runId} +work +http`));
  expect(seen.text).toContain("delivery_exhausted");
  const redriven = await page.type(entry, "**Act.**", names);
  expect(redriven).toMatchObject({ code: 0 });
  expect(redriven.text).toContain("1 would be redriven, as 1 new runs");
  (await sink.received("hold-letter", 4)).answer(200);
  const { runs } = await pawl.runs.list({ workflowId: "hold-letter" });
  for (const run of runs) await hasEnded(parts, run.runId);
  const { deadLetters: letters } = await pawl.deadLetters.list();
  const letter = { LETTER: letters.find((one) => one.runId === other)?.deadLetterId ?? "" };
  expect((await page.type(entry, "If a run is not needed", letter)).code).toBe(0);
  expect((await page.type(entry, "**Look.**", names)).text).toContain("No dead letters.");
}

/** The database of the cluster refuses every append to the log, as a full disk does. */
export async function storeUnavailable(parts: RunbookParts): Promise<void> {
  const { cluster, sink, page, untilPrinted } = parts;
  const entry = "Calls fail with STORE_UNAVAILABLE";
  const runId = await held(parts, "hold-store");
  const names = { RUN: runId, NODE: "work" };
  const db = new Client({ connectionString: cluster.databaseUrl });
  await db.connect();
  await db.query(
    `create function pawl.refuse() returns trigger language plpgsql as $$
     begin raise exception 'refused by the test' using errcode = '53100'; end $$`,
  );
  await db.query(
    "create trigger refuse before insert on pawl.run_events for each statement execute function pawl.refuse()",
  );
  try {
    (await sink.received("hold-store")).answer(200);
    await untilPrinted(/database[^]*cannot store the result yet/, () =>
      page.type(entry, "**Look.**", names),
    );
    const hasty = createPawlClient({ baseUrl: cluster.url, attempts: 1 });
    const refused = { reason: "STORE_UNAVAILABLE" };
    await expect(hasty.runs.start("hold-store")).rejects.toMatchObject(refused);
  } finally {
    await db.query("drop trigger refuse on pawl.run_events");
    await db.query("drop function pawl.refuse()");
    await db.end();
  }
  await untilPrinted(/completed/, () => page.type(entry, "**Act.**", names));
}

/** A second process takes the id of the executor. It works when it has an id of its own. */
export async function executorIdTaken({ cluster, pawl, page, untilPrinted }: RunbookParts) {
  const entry = "An executor says EXECUTOR_ID_TAKEN";
  const taken = await until(
    async () => {
      const executors = await pawl.executors.list();
      return executors.length === 1 ? executors[0]?.executorId : undefined;
    },
    { what: "the only executor" },
  );
  const second = await startExecutor(cluster, { PAWL_EXECUTOR_ID: taken });
  await until(() => second.logs().includes("Another process registered with executor id"), {
    what: "the second process to say why it waits",
  });
  expect((await fetch(`http://${LOOPBACK}:${second.probePort}/readyz`)).status).toBe(503);
  const seen = await page.type(entry, "**Look.**");
  expect(seen.text.split(taken)).toHaveLength(2);
  const own = randomUUID();
  await second.restart({ PAWL_EXECUTOR_ID: own });
  const both = await untilPrinted(new RegExp(own), () => page.type(entry, "**Act.**"));
  expect(both).toContain(taken);
}

/** Executors die in the middle of effects that may happen at most once. One effect happens now, and the other is taken as done. */
export async function unknownEffect(parts: RunbookParts): Promise<void> {
  const { cluster, sink, page } = parts;
  const entry = "An executor died with an unknown effect";
  const once = { effect: "at_most_once" };
  const lost = await held(parts, "hold-lost", once);
  const done = await held(parts, "hold-done", once);
  await cluster.executors[0]?.kill("SIGKILL");
  await cluster.executors[0]?.restart();
  for (const runId of [lost, done]) {
    await hasEnded(parts, runId);
    const seen = await page.type(entry, "**Look.**", { RUN: runId });
    expect(seen.text).toContain("effect_unknown");
    expect(seen.text).toMatch(/begun, result unknown +at_most_once/);
  }
  const retried = page.type(entry, "**The receiver does not have it.**", { RUN: lost });
  (await sink.received("hold-lost", 2)).answer(200);
  expect((await retried).code).toBe(0);
  const output = JSON.stringify({ status: 200, headers: {}, body: null });
  const names = { RUN: done, NODE: "work", JSON: output, NAME: "ada", REASON: "sent" };
  const repaired = await page.type(entry, "**The receiver has it.**", names);
  expect(repaired, repaired.text).toMatchObject({ code: 0 });
  expect(sink.calls.filter(({ name }) => name === "hold-done")).toHaveLength(1);
}
