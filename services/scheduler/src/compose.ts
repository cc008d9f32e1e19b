// Connects the scheduler's adapters with its use cases: first the stores, then the engine on them, then the services for other processes.

import { NODE_CONFIGS } from "@pawl/core/definition/node-types";
import { CLOCK_SLACK_MS } from "@pawl/platform/db/clock";
import { type PriceOf, priceTable } from "@pawl/core/policy/price";
import { parseCidrs } from "@pawl/platform/egress/address";
import { DEFAULT_EGRESS, type EgressPolicy } from "@pawl/platform/egress/url";
import type { Running } from "@pawl/platform/lifecycle/service";
import { steadyNow } from "@pawl/platform/lifecycle/steady-time";
import { systemTimers } from "@pawl/platform/lifecycle/timers";
import { serveCommands } from "@pawl/platform/lanes/command-server";
import { serve, type ServedService } from "@pawl/platform/rpc/implementation";
import { startGrpcServer } from "@pawl/platform/rpc/grpc-server";
import type { OnInternal } from "@pawl/platform/rpc/status";
import { METRICS } from "@pawl/platform/telemetry/catalogue";
import type { Logger } from "@pawl/platform/telemetry/log";
import type { Telemetry } from "@pawl/platform/telemetry/start";
import { WorkerService } from "@pawl/proto/pawl/worker/v1/worker_service_pb";
import { startCommandWorker } from "./duties/command-worker.ts";
import type { Config } from "./config.ts";
import { KnownPauses } from "./commit/pauses.ts";
import { openStores, type Stores } from "./open-stores.ts";
import { startProbes } from "./probes.ts";
import { commandServices } from "./commands/services.ts";
import { standingService } from "./commands/standing.ts";
import { listenForJobs } from "./listen-for-jobs.ts";
import { createAlarmClock } from "./duties/alarm-clock.ts";
import { startSweepers } from "./duties/start-sweepers.ts";
import { createMark } from "./inputs/quarantine.ts";
import { SnapshotWriter } from "./duties/snapshots.ts";
import { RunCache } from "./commit/cache.ts";
import { Newest } from "./commands/newest.ts";
import { Definitions } from "./commit/definitions.ts";
import { StoreHealth } from "./tick/store-health.ts";
import { TickLoop } from "./tick/loop.ts";
import type { TickReport } from "./tick/tick.ts";
import { Waiting } from "./commit/waiting.ts";
import { drainExecutors } from "./sessions/give-back.ts";
import { Renewals } from "./sessions/renewals.ts";
import { ConnectedExecutors } from "./sessions/connected-executors.ts";
import { type DeskOptions, WebhookDesk } from "./sessions/webhook-desk.ts";
import { getValue, putValue } from "./sessions/value-service.ts";
import { serveWork, type WorkParts } from "./sessions/work-service.ts";

/** The number of folds in memory. The scheduler reads any other run again when an input about it arrives. */
const CACHED_RUNS_MAX = 5_000;
const BUILT_IN_TYPES: ReadonlySet<string> = new Set(Object.keys(NODE_CONFIGS));
const STOP_GRACE_MS = 3_000;
/** The sweeps of approvals and of signals set their own timers for later deadlines. */
const NEAR_MS = 60_000;

interface SchedulerParts {
  readonly log: Logger;
  readonly telemetry: Telemetry;
}

interface EngineOptions {
  /** What the operator sets for all commands and ticks. */
  readonly policy: { readonly egress: EgressPolicy; readonly priceOf: PriceOf };
  /** Whether a ready node may go to an executor without the queue. */
  readonly handsOff: boolean;
  /** A tick opened an approval, or a wait for a signal, that is due soon. */
  readonly onDue: (what: "approvals" | "signals", afterMs: number) => void;
  readonly onUnsettled: () => void;
  /** A tick ended temporary runs. */
  readonly onTemporaryEnd: () => void;
  /** A tick inserted webhook deliveries. */
  readonly onPosted: () => void;
}
type Started = ReturnType<typeof startSweepers>;

export async function startScheduler(
  config: Config,
  { log, telemetry }: SchedulerParts,
): Promise<Running> {
  const stores = await openStores(config, log, (byMs) => {
    log.warn({ by_ms: byMs }, "the database's clock stepped; no lease is judged for a while");
    leaseGrace.stepped();
  });
  const engine = createEngine(stores, log, {
    policy: { egress: egressOf(config), priceOf: priceTable(config.PAWL_LLM_PRICES) },
    handsOff: config.PAWL_HAND_OFF,
    onDue: (what, ms) => sweepers[what].soon(ms),
    onPosted: () => desk.expect(0),
    onUnsettled: () => onUnsettled(),
    onTemporaryEnd: () => onTemporaryEnd(),
  });
  const alarms = createAlarmClock({ ...stores, ...engine, log });
  const desk: WebhookDesk = deskOf(config, { ...stores, ...engine, log }, (afterMs) =>
    sweepers.webhooks.soon(afterMs),
  );
  const jobs = listenForJobs(config, { ...stores, ...engine });
  const duties = { ...stores, ...engine, alarms, desk, jobs, log };
  const begun: Started = startSweepers(config, duties);
  const { sweepers, leaseGrace, onUnsettled, onTemporaryEnd } = begun;
  const renewals = createRenewals(config, { ...stores, ...engine, leaseGrace, log });
  const commandWorker = startCommandWorker(config, {
    queue: stores.workflowQueue,
    parts: { ...stores, ...engine },
    graceMs: STOP_GRACE_MS,
    log,
  });
  const onInternal = internalFaults(log);
  const { pool } = stores;
  const onBulk = (): void => sweepers.bulks.soon(0);
  const rings = { onAlarm: alarms.ring, onDelivery: () => desk.expect(0), onBulk };
  const services = commandServices({ ...stores, ...engine, log, ...rings }, pool);
  const commands = serveCommands(services, onInternal);
  const work = workService(config, {
    ...{ ...stores, ...engine, renewals, log, webhooks: desk },
    sweepSoon: (afterMs) => sweepers.leases.soon(afterMs + CLOCK_SLACK_MS),
  });
  const server = await startGrpcServer({
    host: config.PAWL_SCHEDULER_HOST,
    port: config.PAWL_SCHEDULER_PORT,
    services: [...services, commands.service, standingService(engine), work],
    allowedHosts: config.PAWL_ALLOWED_HOSTS,
    reflection: config.PAWL_REFLECTION,
    onInternal,
  });
  engine.health.onChange = (isServing) => server.setServing(isServing);
  const probes = await startProbes(config, { ...stores, ...engine, telemetry, log });
  return {
    port: server.port,
    stop: async () => {
      engine.health.onChange = () => {};
      server.setServing(false);
      await drainExecutors(engine.connected, engine.loop, log);
      renewals.stop();
      await Promise.all([alarms, ...Object.values(sweepers)].map((duty) => duty.stop()));
      await Promise.all([jobs.stop(), commandWorker.stop()]);
      await engine.loop.stop();
      await engine.snapshots.stop();
      commands.drain();
      await server.stop(STOP_GRACE_MS);
      const { journal, boss, livenessPool, occurrences } = stores;
      const ends = [pool.end(), livenessPool.end(), probes.close()];
      await Promise.all([journal.close(), boss.stop(), occurrences.stop(), ...ends]);
    },
  };
}

const deskOf = (
  config: Config,
  parts: Pick<DeskOptions, "webhooks" | "connected" | "now" | "log">,
  sweepSoon: DeskOptions["sweepSoon"],
): WebhookDesk =>
  new WebhookDesk({
    ...{ ...parts, sweepSoon, chance: Math.random, graceMs: config.PAWL_GRACE_MS },
    times: { firstMs: config.PAWL_WEBHOOK_RETRY_MS, maxMs: config.PAWL_WEBHOOK_RETRY_MAX_MS },
  });

/** The addresses that webhooks may name. */
const egressOf = ({ PAWL_ALLOW_PRIVATE_EGRESS, PAWL_ENV }: Config): EgressPolicy => ({
  ...DEFAULT_EGRESS,
  allowed: parseCidrs(PAWL_ALLOW_PRIVATE_EGRESS) ?? [],
  httpsOnly: PAWL_ENV === "production",
});

const internalFaults =
  (log: Logger): OnInternal =>
  ({ requestId, error }) => {
    METRICS.internalFaults.add(1);
    log.error({ err: error, request_id: requestId }, "an RPC failed inside");
  };

/** Sets the timers of duties that a committed tick has work for. */
function wakeDuties(
  { approvalDueMs = Infinity, waitDueMs = Infinity, postCount, endsTemporary }: TickReport,
  hooks: Pick<EngineOptions, "onDue" | "onPosted" | "onTemporaryEnd">,
): void {
  if (postCount > 0) hooks.onPosted();
  if (endsTemporary) hooks.onTemporaryEnd();
  if (approvalDueMs <= NEAR_MS) hooks.onDue("approvals", approvalDueMs + CLOCK_SLACK_MS);
  if (waitDueMs <= NEAR_MS) hooks.onDue("signals", waitDueMs + CLOCK_SLACK_MS);
}

function createEngine(stores: Stores, log: Logger, { handsOff, policy, ...hooks }: EngineOptions) {
  const { journal, workflows, recovery, pauses } = stores;
  const [{ now }, steady] = [stores.clock, steadyNow];
  const definitions = new Definitions(workflows);
  const mark = createMark(recovery, log);
  const snapshots = new SnapshotWriter({ journal, definitions, recovery, log });
  const cache = new RunCache({
    journal,
    definitions,
    max: CACHED_RUNS_MAX,
    onCorrupt: mark,
    onLong: (runId) => snapshots.add(runId, "write"),
    onOver: (runId) => snapshots.add(runId, "drop"),
  });
  const waiting = new Waiting(steady);
  const health = new StoreHealth();
  const connected = new ConnectedExecutors();
  const known = new KnownPauses({
    pauses,
    onResumed: (types) => {
      for (const type of types) waiting.enqueued(type);
      loop.poll();
    },
    onUnsettled: hooks.onUnsettled,
    onError: (error) => log.warn({ err: error }, "the pauses were not read; they are read again"),
  });
  const loop: TickLoop = new TickLoop({
    journal,
    cache,
    definitions,
    executors: connected,
    waiting,
    handsOff,
    ...{ completesGlue: handsOff, priceOf: policy.priceOf },
    pauses: known,
    now,
    recovery,
    store: health,
    timers: systemTimers,
    steady,
    onTick: (report) => {
      wakeDuties(report, hooks);
      METRICS.tickDuration.record(report.ms / 1_000);
      METRICS.tickBatchSize.record(report.batchSize);
    },
    onConflict: () => METRICS.tickConflicts.add(1),
    onError: (error, inputs) => {
      METRICS.internalFaults.add(1);
      log.error({ err: error, batch: inputs.length }, "a tick failed");
    },
    onPoisoned: mark,
  });
  const newest = new Newest();
  const clocks = { now, steady };
  return {
    ...clocks,
    definitions,
    newest,
    waiting,
    connected,
    known,
    ...policy,
    loop,
    mark,
    snapshots,
    health,
  };
}

const createRenewals = (
  { PAWL_LEASE_MS: leaseMs, PAWL_RENEW_MS: renewMs }: Config,
  {
    executors,
    loop,
    leaseGrace,
    log,
  }: Pick<Stores, "executors"> & Pick<WorkParts, "loop" | "log"> & Pick<Started, "leaseGrace">,
): Renewals =>
  new Renewals({
    ...{ executors, leaseMs, renewMs, log },
    onFailure: () => leaseGrace.begin(),
    onRevived: () => loop.poll(),
  });

function workService(
  config: Config,
  parts: Omit<WorkParts, "schedulerId" | "builtIns" | "leaseMs" | "renewMs" | "graceMs">,
): ServedService {
  const work: WorkParts = {
    ...parts,
    schedulerId: crypto.randomUUID(),
    builtIns: { types: BUILT_IN_TYPES, token: config.PAWL_EXECUTOR_TOKEN },
    leaseMs: config.PAWL_LEASE_MS,
    renewMs: config.PAWL_RENEW_MS,
    graceMs: config.PAWL_GRACE_MS,
  };
  return serve(WorkerService, {
    work: (stream) => serveWork(work, stream),
    putValue: (stream) => putValue(work, stream),
    getValue: (request) => getValue(work, request),
  });
}
