// Invariants of every run at every moment, read straight from Postgres in one snapshot: the log itself, its claims, its projections and the
// queue. The check trusts no service, so it gives the same answer while a cluster is alive, dead or being killed.
import { parseSavedDefinition } from "@pawl/core/definition/parse";
import { causeOf } from "@pawl/core/log/cause";
import { mayCause } from "@pawl/core/log/meaning";
import { type LoggedFact, isFinal, isStreamedType, isTerminalType } from "@pawl/core/log/event";
import { fold, runStatus } from "@pawl/core/log/fold";
import { exceptionOf } from "@pawl/core/log/result";
import { executionsOf } from "@pawl/core/log/execution";
import type { ExecutionState, RunState } from "@pawl/core/log/state";
import { type RunId, runId as runIdOf } from "@pawl/core/name/ids";
import { Client } from "pg";
import { checkExecution } from "./execution-invariants.ts";
import { checkSlots, faultsOfKey, KEYS, SLOTS } from "./slot-invariants.ts";
import type { KeySeen, SlotSeen } from "./slot-invariants.ts";
import { checkBudget } from "./budget-invariants.ts";
import { type ApprovalRow, APPROVALS, checkApprovals } from "./approval-invariants.ts";
import { checkWaits, type WaitRow, WAITS } from "./wait-invariants.ts";
import {
  checkThread,
  faultOfThread,
  THREAD_FAULTS,
  type ThreadFault,
  THREADS,
  type ThreadSeen,
} from "./thread-invariants.ts";
import { checkUndos, LETTERS, type LetterSeen } from "./undo-invariants.ts";
import { WEBHOOK_FAULTS } from "./webhook-invariants.ts";

type LogRow = LoggedFact & { readonly runId: string };

type RunRow = {
  readonly runId: string;
  readonly status: string;
  readonly lastSeq: number;
  readonly hasFailures: boolean;
  readonly deadlineAt: number;
  readonly hasEnded: boolean;
  readonly failureClass: string | null;
  readonly body: string;
};

/** A claim or a waiting job: what keeps a node execution from being forgotten. */
type Held = {
  readonly runId: string;
  readonly nodeId: string;
  readonly iteration: number;
  readonly epoch: number;
  readonly attempt: number;
};

type Snapshot = {
  readonly approvals: ReadonlyMap<string, readonly ApprovalRow[]>;
  readonly waits: ReadonlyMap<string, readonly WaitRow[]>;
  readonly runs: readonly RunRow[];
  readonly events: ReadonlyMap<string, LogRow[]>;
  readonly leases: ReadonlyMap<string, Held[]>;
  readonly jobs: ReadonlyMap<string, Held[]>;
  readonly slots: ReadonlyMap<string, SlotSeen[]>;
  readonly keys: readonly KeySeen[];
  readonly letters: ReadonlyMap<string, LetterSeen[]>;
  readonly threads: ReadonlyMap<string, ThreadSeen[]>;
  readonly faults: readonly string[];
};

/** Tells of one broken rule. */
type Report = (seq: number, rule: string) => void;

const RUNS = `
select r.run_id as "runId", r.status, r.last_seq::float8 as "lastSeq", r.has_failures as "hasFailures",
  extract(epoch from r.deadline_at)::float8 * 1000 as "deadlineAt",
  r.ended_at is not null as "hasEnded", r.failure_class as "failureClass", d.body
from pawl.runs r join pawl.definitions d using (definition_id)
where $1::uuid[] is null or r.run_id = any ($1)
order by r.run_id`;

const EVENTS = `
select run_id as "runId", seq::float8 as seq, type, node_id as "nodeId", iteration, attempt, epoch::float8 as epoch,
  payload, value::text as value, extract(epoch from at)::float8 * 1000 as at
from pawl.run_events
where $1::uuid[] is null or run_id = any ($1)
order by run_id, seq`;

const LEASES = `
select run_id as "runId", node_id as "nodeId", iteration, epoch::float8 as epoch, attempt
from pawl.leases
where $1::uuid[] is null or run_id = any ($1)`;

const JOBS = `
select data->>'r' as "runId", data->>'n' as "nodeId", (data->>'i')::integer as iteration, 0::float8 as epoch,
  (data->>'a')::integer as attempt
from pgboss.job
where state = 'created' and name like 'node.%'
  and ($1::uuid[] is null or (data->>'r')::uuid = any ($1))`;

/** Every broken rule of these runs, or of all runs; each names the run and the seq. Empty when all is well. */
export async function checkInvariants(
  databaseUrl: string,
  runIds?: readonly string[],
): Promise<string[]> {
  const snapshot = await read(databaseUrl, runIds);
  const violations = snapshot.runs.flatMap((run) => checkRun(run, snapshot));
  const known = new Set(snapshot.runs.map((run) => run.runId));
  for (const [name, rows] of Object.entries({ log: snapshot.events, lease: snapshot.leases }))
    for (const runId of rows.keys())
      if (!known.has(runId)) violations.push(`${runId}: a ${name} without a run`);
  violations.push(...snapshot.keys.flatMap(faultsOfKey), ...snapshot.faults);
  for (const runId of runIds ?? [])
    if (!known.has(runId)) violations.push(`${runId}: the run is lost`);
  return violations;
}

async function read(url: string, runIds: readonly string[] | undefined): Promise<Snapshot> {
  const client = new Client({ connectionString: url });
  await client.connect();
  try {
    // One snapshot: a run row and its log are one picture.
    await client.query("begin isolation level repeatable read read only");
    const rows = async <Row extends object>(text: string): Promise<Row[]> =>
      (await client.query<Row>(text, [runIds ?? null])).rows;
    const runs = await rows<RunRow>(RUNS);
    const byRun = <Row extends { readonly runId: string }>(all: Row[]): Map<string, Row[]> =>
      Map.groupBy(all, (row) => row.runId);
    const events = byRun(await rows<LogRow>(EVENTS));
    const leases = byRun(await rows<Held>(LEASES));
    const jobs = byRun(await rows<Held>(JOBS));
    const slots = byRun(await rows<SlotSeen>(SLOTS));
    const keys = await rows<KeySeen>(KEYS);
    const approvals = byRun(await rows<ApprovalRow>(APPROVALS));
    const waits = byRun(await rows<WaitRow>(WAITS));
    const letters = byRun(await rows<LetterSeen>(LETTERS));
    const threads = byRun(await rows<ThreadSeen>(THREADS));
    const threadFaults = runIds === undefined ? await rows<ThreadFault>(THREAD_FAULTS) : [];
    const webhookFaults = await rows<{ readonly fault: string }>(WEBHOOK_FAULTS);
    const faults = [...threadFaults.map(faultOfThread), ...webhookFaults.map(({ fault }) => fault)];
    return { runs, events, leases, jobs, slots, keys, approvals, waits, letters, threads, faults };
  } finally {
    await client.end();
  }
}

function checkRun(run: RunRow, snapshot: Snapshot): string[] {
  const violations: string[] = [];
  const report: Report = (seq, rule) => violations.push(`${run.runId} at ${seq}: ${rule}`);
  const events = snapshot.events.get(run.runId) ?? [];
  checkOrder(run, events, report);
  checkCauses(events, report);
  for (const own of Map.groupBy(
    events.filter((event) => event.nodeId !== ""),
    (event) => `${event.nodeId}/${event.iteration}`,
  ).values())
    checkExecution(own, report);
  const state = foldOf(run, events, report);
  if (state === undefined) return violations;
  checkProjection(run, state, report);
  checkChildren(state, snapshot, report);
  checkUndos(state, events, snapshot.letters.get(run.runId) ?? [], report);
  checkBudget(state, events, report);
  checkApprovals(state, snapshot.approvals.get(run.runId) ?? [], report);
  checkWaits(state, snapshot.waits.get(run.runId) ?? [], report);
  const [thread] = snapshot.threads.get(run.runId) ?? [];
  const isInLine = checkThread(state, thread, report);
  checkPlaces(
    state,
    snapshot.leases.get(run.runId) ?? [],
    {
      jobs: snapshot.jobs.get(run.runId) ?? [],
      slots: snapshot.slots.get(run.runId) ?? [],
      isInLine,
    },
    report,
  );
  return violations;
}

function checkCauses(events: readonly LogRow[], report: Report): void {
  for (const event of events.slice(1)) {
    const cause = events[causeOf(event) - 1];
    if (cause === undefined || cause.seq >= event.seq || !mayCause(cause.type, event.type))
      report(event.seq, `${event.type} is not caused by ${cause?.type ?? "nothing"}`);
  }
}

/** The log as a whole: gap-free, begun once, ended once. */
function checkOrder(run: RunRow, events: readonly LogRow[], report: Report): void {
  events.forEach(({ seq }, index) => {
    if (seq !== index + 1) report(seq, `seq ${index + 1} was due`);
  });
  if (run.lastSeq !== events.length) report(run.lastSeq, `runs.last_seq, of ${events.length}`);
  for (const { seq, type } of events) {
    if ((type === "run.started") !== (seq === 1)) report(seq, `${type}: run.started is the first`);
    if (isTerminalType(type) && seq !== events.length) report(seq, `${type} is not the last`);
  }
  const last = events.at(-1);
  if (run.hasEnded !== (last !== undefined && isTerminalType(last.type)))
    report(last?.seq ?? 0, `ended_at is ${run.hasEnded ? "" : "not "}set after ${last?.type}`);
}

function foldOf(run: RunRow, events: readonly LogRow[], report: Report): RunState | undefined {
  const parsed = parseSavedDefinition(run.body);
  if (!parsed.ok) {
    report(0, "the definition no longer parses");
    return undefined;
  }
  try {
    const id: RunId = runIdOf(run.runId);
    return fold(
      id,
      parsed.graph,
      events.filter(({ type }) => !isStreamedType(type)),
    );
  } catch (error) {
    report(0, `the log does not fold: ${String(error)}`);
    return undefined;
  }
}

function checkProjection(run: RunRow, state: RunState, report: Report): void {
  if (run.status !== runStatus(state))
    report(run.lastSeq, `the row says ${run.status}, the log says ${runStatus(state)}`);
  if (run.hasFailures !== state.hasFailures)
    report(run.lastSeq, `has_failures is ${run.hasFailures}, the log says ${state.hasFailures}`);
  const { failureClass = null } = exceptionOf(state) ?? {};
  if (run.failureClass !== failureClass)
    report(run.lastSeq, `failure_class is ${run.failureClass}, the log says ${failureClass}`);
  if (run.deadlineAt !== state.deadlineAt)
    report(run.lastSeq, `deadline_at is ${run.deadlineAt}, the log says ${state.deadlineAt}`);
  const settledCount = state.nodes.length - state.unsettledCount;
  // A run that only undoes an execution of another run has no executions of its own.
  if (isFinal(state.status) && state.undoes === undefined && settledCount < state.nodes.length)
    report(run.lastSeq, `the run is over with ${state.unsettledCount} nodes unsettled`);
}

/** A node waits only for a run that exists and is live; the transaction that ends a run also updates its parent. */
function checkChildren(state: RunState, { runs }: Snapshot, report: Report): void {
  const all = new Map(runs.map((run) => [run.runId, run]));
  for (const [, , { childRunId }] of executionsOf(state))
    if (childRunId !== undefined && all.get(childRunId)?.hasEnded === true)
      report(state.lastSeq, `a node waits for the run ${childRunId}, which has ended`);
  const parent = state.parent === undefined ? undefined : all.get(state.parent.runId);
  // A child that is compensated may take longer than its parent.
  if (parent?.hasEnded === true && !isFinal(state.status) && state.ending === undefined)
    report(state.lastSeq, `the run goes on although its parent ${parent.runId} has ended`);
}

/** Every ready node is in exactly one place: a queued one in the queue or among those who wait for a slot, a running one in a lease. */
function checkPlaces(
  state: RunState,
  leases: readonly Held[],
  {
    jobs,
    slots,
    isInLine,
  }: {
    readonly jobs: readonly Held[];
    readonly slots: readonly SlotSeen[];
    /** Whether the run waits for its thread. */
    readonly isInLine: boolean;
  },
  report: Report,
): void {
  const { lastSeq } = state;
  const executions = new Map<string, ExecutionState>();
  for (const [index, iteration, execution] of executionsOf(state)) {
    const nodeId = state.graph.nodes[index]?.definition.id ?? "";
    executions.set(nameOf({ nodeId, iteration }), execution);
  }
  for (const lease of leases) {
    const { epoch } = lease;
    const held = executions.get(nameOf(lease));
    if (held?.status !== "running" || held.epoch !== epoch)
      report(
        lastSeq,
        `a lease of ${nameOf(lease)} at ${epoch}, which is ${held?.status} ${held?.epoch}`,
      );
  }
  const leased = new Set(leases.map((lease) => `${nameOf(lease)}/${lease.attempt}`));
  const placed = [...jobs, ...slots.filter((slot) => slot.state === "waiting")];
  const waiting = Map.groupBy(placed, (job) => `${nameOf(job)}/${job.attempt}`);
  let live = isInLine || checkSlots(state, slots, jobs, report) ? 1 : 0;
  for (const [name, { status, attempt, childRunId, hold, wait }] of executions) {
    const key = `${name}/${attempt}`;
    if (hold !== undefined || wait !== undefined) {
      // A person or a signal moves it; neither a lease nor a job may be left of it.
      live += 1;
      if (leased.has(key) || waiting.has(key)) report(lastSeq, `${name} is held and still placed`);
    }
    if (status === "running" || status === "queued" || childRunId !== undefined) live += 1;
    if (status === "running" && !leased.has(key)) report(lastSeq, `${name} runs without a lease`);
    // A paused run has no jobs; the scheduler makes them when it resumes the run.
    const count = waiting.get(key)?.length ?? 0;
    if (status === "queued" && count !== (state.status === "paused" ? 0 : 1))
      report(lastSeq, `${name} is queued with ${count} jobs`);
  }
  if (!isFinal(state.status) && state.status !== "paused" && live === 0)
    report(lastSeq, "the run is not over and nothing would move it");
}

const nameOf = ({ nodeId, iteration }: Pick<Held, "nodeId" | "iteration">): string =>
  iteration === 0 ? nodeId : `${nodeId}#${iteration}`;
