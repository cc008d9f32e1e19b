// What callers may do with commands of the workflow queue by RPC, and the samples of the system, on a real trio.

import { randomUUID } from "node:crypto";
import { timestampMs } from "@bufbuild/protobuf/wkt";
import { jsonTextOf, type PawlClient } from "@pawl/client";
import type { GetQueueStatsResponse } from "@pawl/proto/pawl/v1/queue_service_pb";
import { CommandState } from "@pawl/proto/pawl/v1/queued_command_pb";
import type { Run } from "@pawl/proto/pawl/v1/run_pb";
import { RunStatus } from "@pawl/proto/pawl/v1/run_pb";
import { expect, test } from "vitest";
import { until } from "../support/until.ts";
import { graph, script } from "./graph.ts";

/** The trio under test. */
interface CommandsUnderTest {
  readonly client: PawlClient;
  /** The address of the scheduler's metrics. */
  readonly metrics: string;
  logs(): string;
  /** Waits until the job has this status. */
  stands(jobId: string, status: string): Promise<unknown>;
  /** Saves a workflow and gives its id. */
  save(definition: object): Promise<string>;
  /** The runs of a workflow, once there are some. */
  runsOf(workflowId: string): Promise<readonly Run[]>;
}

/** The last ten minutes, in seconds. */
export const LATELY = { rangeMs: 600_000, stepMs: 1_000 };

/** A field that every answer has. */
function present<T>(value: T | undefined): T {
  if (value === undefined) throw new Error("a field of the answer is missing");
  return value;
}

function enqueueTests(under: CommandsUnderTest): void {
  test("a command is enqueued, read and listed by calls, with its delay, its exact input and the run that it started (S0.4, S0.5, S0.12)", async () => {
    const graphId = await under.save(
      graph(["start > double > end"], { double: script("return ctx.input.n * 2") }),
    );
    const runName = randomUUID();
    const options = { inputJson: '{"n": 2.50}', runId: runName, requestId: `start-${runName}` };
    const asked = { ...options, priority: -3, maxAttempts: 7, delayMs: 300 };
    const queued = await under.client.commands.start(graphId, asked);
    expect(queued).toMatchObject({ state: CommandState.WAITING, priority: -3, maxAttempts: 7 });
    expect(timestampMs(present(queued.dueTime)) - timestampMs(present(queued.createTime))).toBe(
      300,
    );
    // A repeat is the same command; another body under the same id is refused.
    const { commandId } = queued;
    expect((await under.client.commands.start(graphId, asked)).commandId).toBe(commandId);
    const other = under.client.commands.start(graphId, { ...asked, priority: 1 });
    await expect(other).rejects.toMatchObject({ reason: "REQUEST_ID_REUSED" });
    await until(
      async () => (await under.client.commands.get(commandId)).state === CommandState.COMPLETED,
      {
        what: "the delayed command to be carried out",
      },
    );
    const done = await under.client.commands.get(commandId);
    expect(jsonTextOf(done.inputJson)).toBe('{"n": 2.50}');
    const [run] = await under.runsOf(graphId);
    expect(done).toMatchObject({ startedRunId: run?.runId, runId: runName, attempts: 0 });
    expect((await under.client.runs.wait(done.startedRunId)).status).toBe(RunStatus.COMPLETED);
    const first = await under.client.commands.list({
      states: [CommandState.COMPLETED],
      pageSize: 1,
    });
    expect(first.commands).toMatchObject([{ commandId, startedRunId: run?.runId }]);
    const { nextPageToken: pageToken } = first;
    const second = await under.client.commands.list({
      ...{ states: [CommandState.COMPLETED], pageSize: 1, pageToken },
    });
    expect(second.commands[0]?.commandId).not.toBe(commandId);
    const foreign = under.client.commands.list({ pageToken });
    await expect(foreign).rejects.toMatchObject({ reason: "INPUT_INVALID" });
  });

  test("a command that waits is cancelled for good; a finished or unknown one is refused by its reason", async () => {
    const graphId = await under.save(graph(["start > end"]));
    const { commandId } = await under.client.commands.start(graphId, { delayMs: 400 });
    expect((await under.client.queues.depth()).commands).toMatchObject({ waiting: 1 });
    expect((await under.client.commands.cancel(commandId)).state).toBe(CommandState.CANCELLED);
    expect((await under.client.commands.cancel(commandId)).state).toBe(CommandState.CANCELLED);
    expect((await under.client.queues.depth()).commands).toMatchObject({ waiting: 0 });
    // A later command of the same delay is carried out, so the cancelled one would have been too.
    const later = await under.client.commands.start(graphId, { delayMs: 400 });
    await under.stands(later.commandId, "completed");
    expect((await under.client.runs.list({ workflowId: graphId })).runs).toHaveLength(1);
    const ended = under.client.commands.cancel(later.commandId);
    await expect(ended).rejects.toMatchObject({ reason: "QUEUE_JOB_NOT_CANCELLABLE" });
    const missing = { reason: "QUEUE_JOB_NOT_FOUND" };
    await expect(under.client.commands.get(randomUUID())).rejects.toMatchObject(missing);
    await expect(under.client.commands.cancel(randomUUID())).rejects.toMatchObject(missing);
    await expect(under.client.commands.discard(later.commandId)).rejects.toMatchObject({
      reason: "QUEUE_JOB_NOT_DEAD",
    });
  });
}

function redriveTests(under: CommandsUnderTest): void {
  test("a command that was given up is redriven once its fault is mended, or discarded (S0.56, S0.57)", async () => {
    const graphId = `commanded-${randomUUID()}`;
    const start = () => under.client.commands.start(graphId, { maxAttempts: 1 });
    const [mended, dropped] = [await start(), await start()];
    for (const { commandId } of [mended, dropped]) await under.stands(commandId, "dead_letter");
    expect(await under.client.commands.get(mended.commandId)).toMatchObject({
      ...{ attempts: 1, errorMessage: `There is no workflow ${graphId}.`, startedRunId: "" },
    });
    expect((await under.client.commands.discard(dropped.commandId)).state).toBe(
      CommandState.DISCARDED,
    );
    await under.client.workflows.create({
      id: graphId,
      title: "Mended",
      ...graph(["start > end"]),
    });
    const again = await under.client.commands.redrive(mended.commandId);
    expect(again).toMatchObject({ commandId: mended.commandId, attempts: 0 });
    await under.stands(mended.commandId, "completed");
    expect(await under.runsOf(graphId)).toHaveLength(1);
    const over = under.client.commands.redrive(dropped.commandId);
    await expect(over).rejects.toMatchObject({ reason: "QUEUE_JOB_NOT_DEAD" });
  });

  test("a resume by call answers a node that waits, and names its run by the name of the start (S0.15, S0.54)", async () => {
    const ask = { type: "approval", config: { message: "How much?" } };
    const workflowId = await under.save(graph(["start > ask > end"], { ask }));
    const { runId: runName } = await under.client.commands.start(workflowId);
    const [run] = await under.runsOf(workflowId);
    const runId = run?.runId ?? "";
    await until(async () => (await under.client.runs.get(runId)).run.status === RunStatus.WAITING, {
      what: "the run to wait",
    });
    const answer = { workflowId, decidedBy: "ada", responseJson: '{"amount": 5.0}' };
    const queued = await under.client.commands.resume(runName, "ask", "approve", answer);
    await under.stands(queued.commandId, "completed");
    expect((await under.client.runs.wait(runId)).status).toBe(RunStatus.COMPLETED);
    const done = await under.client.commands.get(queued.commandId);
    expect(done).toMatchObject({
      startedRunId: runId,
      answer: { nodeId: "ask", decidedBy: "ada" },
    });
    expect(jsonTextOf(done.answer?.responseJson)).toBe('{"amount": 5.0}');
  });
}

function refusalTests(under: CommandsUnderTest): void {
  test("bad commands are refused by their field before they are enqueued (S0.4)", async () => {
    const { commands, queues } = under.client;
    const answer = { workflowId: "w" };
    const bad: readonly (readonly [string, () => Promise<unknown>])[] = [
      ["workflow_id", () => commands.start("no id!")],
      ["input_json", () => commands.start("w", { inputJson: "{" })],
      ["run_id", () => commands.start("w", { runId: "7" })],
      ["priority", () => commands.start("w", { priority: 1_001 })],
      ["max_attempts", () => commands.start("w", { maxAttempts: 101 })],
      ["delay", () => commands.start("w", { delayMs: 400 * 24 * 3_600_000 })],
      ["run_id", () => commands.resume("run", "n", "approve", answer)],
      ["answer.node_id", () => commands.resume(randomUUID(), "no id!", "approve", answer)],
      ["command_id", () => commands.get("7")],
      ["page_token", () => commands.list({ pageToken: "forged" })],
      ["step", () => queues.stats({ rangeMs: 3_600_000, stepMs: 1 })],
      ["range", () => queues.stats({ rangeMs: 40 * 24 * 3_600_000 })],
      ["node_type", () => queues.stats({ nodeType: "no type!" })],
    ];
    for (const [field, call] of bad)
      await expect(call(), field).rejects.toMatchObject({
        reason: "INPUT_INVALID",
        metadata: { field },
      });
    expect((await under.client.queues.depth()).commands).toMatchObject({ waiting: 0, active: 0 });
  });
}

export function callTests(under: CommandsUnderTest): void {
  enqueueTests(under);
  redriveTests(under);
  refusalTests(under);
}

export function statsTests(under: CommandsUnderTest): void {
  test("each interval the services sample workers, waiting nodes, runs and connections: in the log, in metrics and in a history (S4.34)", async () => {
    const graphId = await under.save(graph(["start > work > end"], { work: script("return 1") }));
    await under.client.queues.pause("javascript");
    const { run } = await under.client.runs.start(graphId);
    const isSampled = ({ queues, pools }: GetQueueStatsResponse): boolean =>
      queues.some(({ nodeType, oldestMs = 0n }) => nodeType === "javascript" && oldestMs > 0n) &&
      pools.some(({ service }) => service === "gateway");
    const sampled = await until(
      async () => {
        const stats = await under.client.queues.stats(LATELY);
        return isSampled(stats) ? stats : undefined;
      },
      { what: "a sample with the waiting node" },
    );
    expect(sampled.total).toMatchObject({ waiting: 1, active: 0, runsRunning: 1, runsPending: 0 });
    expect(sampled.total?.slots).toBeGreaterThan(0);
    expect(sampled.total?.available).toBe(sampled.total?.slots);
    const [queue] = sampled.queues;
    expect(queue).toMatchObject({ nodeType: "javascript", waiting: 1, medianMs: queue?.oldestMs });
    expect(sampled.pools.map(({ service, kind, pool }) => `${service} ${kind} ${pool}`)).toEqual([
      "gateway streams commands",
      "gateway connections notifications",
      "gateway connections reads",
      "gateway streams watchers",
      "scheduler streams executors",
      "scheduler connections liveness",
      "scheduler connections notifications",
      "scheduler connections reads",
      "scheduler connections tick",
    ]);
    expect(sampled.total?.connections).toBe(14);
    expect(sampled.points.length).toBeGreaterThan(0);
    const { points } = await under.client.queues.stats({ nodeType: "javascript" });
    expect(points.at(-1)).toMatchObject({ nodeType: "javascript", waiting: 1 });
    const text = await (await fetch(`${under.metrics}/metrics`)).text();
    for (const line of [
      /^pawl_worker_slots\{.*state="available".*\} [1-9]/m,
      /^pawl_runs_live\{.*state="running".*\} 1/m,
      /^pawl_queue_median_age_seconds\{.*queue="javascript".*\} 0\.\d/m,
      /^pawl_pool_connections\{.*pool="reads".*state="max".*\} 5/m,
    ])
      expect(text).toMatch(line);
    const lines = under
      .logs()
      .split("\n")
      .filter((line) => line.includes('"msg":"stats"'));
    expect(lines.at(-1)).toMatch(/"workers":\{"max":\d+,"available":\d+,"active":\d+\}/);
    expect(lines.at(-1)).toContain('"runs":{"n_pending":0,"n_running":1,"min_age_secs":0');
    await under.client.queues.resume("javascript");
    expect((await under.client.runs.wait(run.runId)).status).toBe(RunStatus.COMPLETED);
  });
}
