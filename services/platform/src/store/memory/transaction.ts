// One transaction of the memory store. Calls take effect on staged tables at once, in the order they are made, and reach the
// committed ones together at `commit`. As in Postgres, the first refusal dooms the whole transaction.

import type { ApprovalId, DefinitionId, RunId } from "@pawl/core/name/ids";
import type { DroppedJob, Job, NewJob } from "../../queue/queue.ts";
import { PausesMoved, RunMoved, WorkflowMoved } from "../journal.ts";
import type { NewDeadLetter } from "../dead-letters/dead-letters.ts";
import type * as fenced from "../fenced.ts";
import type { ClosedApproval, NewApproval } from "../approvals/approvals.ts";
import type { Extension, LeaseKey, NewLease } from "../leases/leases.ts";
import type * as journal from "../journal.ts";
import type { SlotChange, SlotsMoved } from "../slots/slots.ts";
import { StagedFenced } from "./fenced.ts";
import { StagedJobs } from "./jobs.ts";
import { StagedSlots } from "../slots/memory.ts";
import { eventOf, StagedLog } from "./log.ts";
import { StagedMap } from "./staged-map.ts";
import {
  leaseKey,
  pairKey,
  type EffectRow,
  type ApprovalRow,
  type DeadLetterRow,
  type KeptInput,
  type LeaseRow,
  type RunRow,
  type StoredDefinition,
  type Tables,
} from "./tables.ts";
import { UniqueViolation } from "./unique-violation.ts";

/** Runs with news, as told to readers. */
export type Wakes = readonly journal.News[];

export class MemoryTransaction implements journal.Transaction {
  readonly #now: number;
  readonly #newest: Tables["workflows"];
  readonly #pauseEpoch: number;
  readonly #runs: StagedMap<RunId, RunRow>;
  readonly #requests: StagedMap<string, RunId>;
  readonly #inputKeys: StagedMap<string, KeptInput>;
  readonly #approvals: StagedMap<ApprovalId, ApprovalRow>;
  readonly #deadLetters: StagedMap<string, DeadLetterRow>;
  readonly #definitions: StagedMap<DefinitionId, StoredDefinition>;
  readonly #leases: StagedMap<string, LeaseRow>;
  readonly #effects: StagedMap<string, EffectRow>;
  readonly #said: StagedFenced;
  readonly #log: StagedLog;
  readonly #jobs: StagedJobs;
  readonly #slots: StagedSlots;
  readonly #wakes: Wakes[number][] = [];
  #refusal: unknown;

  constructor(tables: Tables, now: number) {
    this.#now = now;
    this.#newest = tables.workflows;
    this.#pauseEpoch = tables.pauseEpoch.value;
    this.#runs = new StagedMap(tables.runs);
    this.#requests = new StagedMap(tables.requests);
    this.#inputKeys = new StagedMap(tables.inputKeys);
    this.#approvals = new StagedMap(tables.approvals);
    this.#deadLetters = new StagedMap(tables.deadLetters);
    this.#definitions = new StagedMap(tables.definitions);
    this.#leases = new StagedMap(tables.leases);
    this.#log = new StagedLog(tables.log);
    this.#jobs = new StagedJobs(tables.jobs, now);
    this.#slots = new StagedSlots(tables.slots, now);
    this.#effects = new StagedMap(tables.effects);
    this.#said = new StagedFenced({
      now,
      runs: this.#runs,
      leases: this.#leases,
      effects: this.#effects,
      log: this.#log,
    });
  }

  /** Applies everything, or throws the first refusal and applies nothing. Gives the hints for readers. */
  commit(): Wakes {
    if (this.#refusal !== undefined) throw this.#refusal;
    this.#refusal = new Error("the transaction is over");
    const rows = [this.#runs, this.#requests, this.#inputKeys, this.#definitions, this.#leases];
    const others = [this.#approvals, this.#effects, this.#log, this.#jobs, this.#slots];
    for (const part of [...rows, ...others, this.#deadLetters]) part.apply();
    return this.#wakes;
  }

  assumePauses(epoch: number): void {
    if (epoch !== this.#pauseEpoch) this.#refusal ??= new PausesMoved("the pauses have changed");
  }

  insertRuns(runs: readonly journal.NewRun[]): Promise<void> {
    return this.#call(() => runs.forEach((run) => this.#insertRun(run)));
  }

  saveGraphs(graphs: readonly journal.TestGraph[]): Promise<void> {
    return this.#call(() => graphs.forEach((graph) => this.#saveGraph(graph)));
  }

  keepInputKeys(keys: readonly journal.InputKey[]): Promise<void> {
    return this.#call(() => keys.forEach((key) => this.#keepInputKey(key)));
  }

  advance(changes: readonly journal.RunChange[]): Promise<ReadonlyMap<RunId, number>> {
    return this.#call(() => new Map(changes.map((change) => [change.runId, this.#move(change)])));
  }

  moveDeadlines(moved: readonly journal.MovedDeadline[]): Promise<void> {
    return this.#call(() => moved.forEach((each) => this.#moveDeadline(each)));
  }

  append(facts: readonly journal.Append[]): Promise<void> {
    return this.#call(() => facts.forEach((item) => this.#append(item)));
  }

  openApprovals(approvals: readonly NewApproval[]): Promise<void> {
    return this.#call(() => approvals.forEach((each) => this.#openApproval(each)));
  }

  closeApprovals(approvals: readonly ClosedApproval[]): Promise<void> {
    return this.#call(() => approvals.forEach((each) => this.#closeApproval(each)));
  }

  bury(letters: readonly NewDeadLetter[]): Promise<void> {
    return this.#call(() => letters.forEach((each) => this.#bury(each)));
  }

  openLeases(leases: readonly NewLease[]): Promise<void> {
    return this.#call(() => leases.forEach((lease) => this.#openLease(lease)));
  }

  closeLeases(keys: readonly LeaseKey[]): Promise<void> {
    return this.#call(() => keys.forEach((key) => this.#leases.delete(leaseKey(key))));
  }

  lock(): Promise<void> {
    // Transactions take turns.
    return this.#call(() => undefined);
  }

  stream(facts: readonly fenced.StreamedFact[]): Promise<readonly boolean[]> {
    return this.#call(() => facts.map((fact) => this.#said.stream(fact)));
  }

  beginEffects(begins: readonly fenced.EffectBegin[]): Promise<readonly fenced.Begun[]> {
    return this.#call(() => begins.map((begin) => this.#said.begin(begin)));
  }

  commitEffects(commits: readonly fenced.EffectCommit[]): Promise<readonly fenced.Committed[]> {
    return this.#call(() => commits.map((commit) => this.#said.commit(commit)));
  }

  extendLeases(extensions: readonly Extension[]): Promise<readonly boolean[]> {
    return this.#call(() => extensions.map((extension) => this.#said.extend(extension)));
  }

  enqueue(jobs: readonly NewJob[]): Promise<void> {
    return this.#call(() => jobs.forEach((job) => this.#jobs.add(job)));
  }

  dropJobs(jobs: readonly DroppedJob[]): Promise<void> {
    return this.#call(() => jobs.forEach((job) => this.#jobs.drop(job)));
  }

  moveSlots(change: SlotChange): Promise<SlotsMoved> {
    return this.#call(() => this.#slots.move(change));
  }

  fetch(nodeType: string, count: number): Promise<readonly Job[]> {
    return this.#call(() => this.#jobs.take(nodeType, count));
  }

  wake(runs: Wakes): Promise<void> {
    return this.#call(() => void this.#wakes.push(...runs));
  }

  /** Answers later but acts now; a refusal is kept for the commit, so nobody has to await this answer. */
  #call<T>(act: () => T): Promise<T> {
    if (this.#refusal === undefined) {
      try {
        return Promise.resolve(act());
      } catch (error) {
        this.#refusal = error;
      }
    }
    const refused = Promise.reject<T>(this.#refusal);
    refused.catch(() => {});
    return refused;
  }

  #insertRun({ eventCount, ended, assumesNewest, ...columns }: journal.NewRun): void {
    const { runId, tenantId, requestId, workflowId, definitionId } = columns;
    if (assumesNewest && this.#newest.get(pairKey(tenantId, workflowId ?? "")) !== definitionId)
      throw new WorkflowMoved("a workflow moved on");
    if (this.#runs.has(runId)) throw new UniqueViolation("runs_pkey", runId);
    if (requestId !== null) {
      const key = pairKey(tenantId, requestId);
      if (this.#requests.has(key)) throw new UniqueViolation("runs_request", key);
      this.#requests.set(key, runId);
    }
    const endedAt = ended ? this.#now : null;
    this.#runs.set(runId, {
      ...columns,
      version: 1,
      lastSeq: eventCount,
      createdAt: this.#now,
      endedAt,
      quarantine: null,
    });
  }

  #saveGraph(graph: journal.TestGraph): void {
    const { definitionId } = graph;
    if (this.#definitions.has(definitionId))
      throw new UniqueViolation("definitions_pkey", definitionId);
    const unnamed = { workflowId: null, version: 0, requestId: null, requestHash: null };
    this.#definitions.set(definitionId, { ...graph, ...unnamed, createdAt: this.#now });
  }

  #keepInputKey({ tenantId, inputKey, runId, ttlMs }: journal.InputKey): void {
    const key = pairKey(tenantId, inputKey);
    const kept = this.#inputKeys.get(key);
    if (kept !== undefined && kept.expiresAt > this.#now)
      throw new UniqueViolation("input_keys_pkey", key);
    this.#inputKeys.set(key, { runId, expiresAt: this.#now + ttlMs });
  }

  #move(change: journal.RunChange): number {
    const run = this.#runs.get(change.runId);
    if (run?.version !== change.expectedVersion) throw new RunMoved("a run moved on");
    const lastSeq = run.lastSeq + change.eventCount;
    const { status, hasFailures, errorMessage } = change;
    const endedAt = change.ended ? this.#now : null;
    const version = run.version + 1;
    this.#runs.set(run.runId, {
      ...run,
      version,
      lastSeq,
      status,
      hasFailures,
      errorMessage,
      endedAt,
    });
    return lastSeq;
  }

  #moveDeadline({ runId, deadlineAt }: journal.MovedDeadline): void {
    const run = this.#runs.get(runId);
    if (run !== undefined) this.#runs.set(runId, { ...run, deadlineAt });
  }

  #openApproval({ deadlineMs, ...approval }: NewApproval): void {
    const { approvalId, runId } = approval;
    if (!this.#runs.has(runId)) return;
    if (this.#approvals.has(approvalId)) throw new UniqueViolation("approvals_pkey", approvalId);
    const deadlineAt = deadlineMs === null ? null : this.#now + deadlineMs;
    const open = { state: "open", decidedBy: "", comment: "", responseJson: null } as const;
    this.#approvals.set(approvalId, { ...approval, ...open, deadlineAt, openedAt: this.#now });
  }

  #closeApproval(closed: ClosedApproval): void {
    const approval = this.#approvals.get(closed.approvalId);
    if (approval?.state === "open")
      this.#approvals.set(closed.approvalId, { ...approval, ...closed });
  }

  #bury(letter: NewDeadLetter): void {
    const run = this.#runs.get(letter.runId);
    if (run === undefined) return;
    const { tenantId, workflowId } = run;
    const open = {
      state: "open",
      redriveRunId: null,
      closedAt: null,
      closedRequestId: null,
    } as const;
    const about = { tenantId, workflowId, diedAt: this.#now };
    this.#deadLetters.set(letter.deadLetterId, { ...letter, ...about, ...open });
  }

  #append({ runId, back, fact }: journal.Append): void {
    const run = this.#runs.get(runId);
    if (run === undefined) return;
    this.#log.append(eventOf(fact, { runId, seq: run.lastSeq - back, at: this.#now }), 0);
  }

  #openLease({ back, ...lease }: NewLease): void {
    const run = this.#runs.get(lease.runId);
    if (run === undefined) return;
    const key = leaseKey(lease);
    if (this.#leases.has(key)) throw new UniqueViolation("leases_pkey", key);
    const times = { leasedAt: this.#now, extendedUntil: null, limitMs: lease.limitMs ?? null };
    this.#leases.set(key, { ...lease, epoch: run.lastSeq - back, ...times });
  }
}
