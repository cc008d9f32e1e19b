// One executor's stream: registered → working → gone (by a goodbye, a broken stream or a drain of this scheduler).
//
// The protocol survives the loss of any message. The lease commits before the assignment is sent, so either side may die in between. An
// executor names its claims when it registers and with each renewal, and the scheduler takes the others back. A broken stream shortens the
// executor's life to a short grace, unless a newer stream represents the executor by then. One process at a time represents an executor
// (ADR 39). The scheduler refuses another process with the same id while the first one lives. It ends an older stream of the same process,
// here or at another scheduler. The end of that stream does not affect the executor.

import { LIMITS } from "@pawl/core/data/limits";
import { EngineError, invalidField } from "@pawl/core/fault/engine-error";
import { executorId } from "@pawl/core/name/ids";
import { METRICS } from "@pawl/platform/telemetry/catalogue";
import type { Logger } from "@pawl/platform/telemetry/log";
import type { Executors, HandlerProcess } from "@pawl/platform/store/leases/leases";
import type { NodeTypes } from "@pawl/platform/store/node-types/node-types";
import type {
  HandlerProcess as WireProcess,
  Register,
  WorkerItem,
} from "@pawl/proto/pawl/worker/v1/worker_service_pb";
import type { TickLoop } from "../tick/loop.ts";
import { admitTypes } from "./admit-types.ts";
import { Outgoing, type WorkStream } from "./outgoing.ts";
import { type BuiltIns, checkRegister, SLOTS_MAX } from "./check-register.ts";
import { giveBack } from "./give-back.ts";
import { ASSIGNMENT_GRACE_MS, reconcile } from "./reconcile.ts";
import type { Renewals } from "./renewals.ts";
import type { ConnectedExecutors } from "./connected-executors.ts";
import type { SchedulerItemInit } from "../commit/executor.ts";
import { idTaken, Session } from "./session.ts";
import { failOversize, takeDelta, takeExtend, takeLog, takeOutcome, takeRelease } from "./take.ts";
import { takeEffectBegin, takeEffectCommit } from "./take-effect.ts";
import type { WebhookDesk } from "./webhook-desk.ts";
import type { ValueParts } from "./value-service.ts";
import { claimOf } from "./wire.ts";
import { cleanText } from "./wire-text.ts";

/** An executor that missed this many renewals counts as frozen, before its lease ends. */
const RENEWALS_MISSED = 2;

export interface WorkParts extends ValueParts {
  readonly schedulerId: string;
  readonly loop: TickLoop;
  readonly connected: ConnectedExecutors;
  readonly executors: Executors;
  readonly nodeTypes: NodeTypes;
  readonly renewals: Renewals;
  readonly log: Logger;
  /** The rule for executors of the built-in node types. */
  readonly builtIns: BuiltIns;
  readonly leaseMs: number;
  readonly renewMs: number;
  /** How long the leases of an executor live after its stream broke. */
  readonly graceMs: number;
  /** Looks for lost leases. It is called when a grace has passed. */
  readonly sweepSoon: (afterMs: number) => void;
  readonly webhooks: Pick<WebhookDesk, "took" | "joined" | "left">;
  /** Creates missing queues for node types. */
  readonly ensureQueues: (nodeTypes: readonly string[]) => Promise<void>;
}

/** Serves one Work stream. */
export function serveWork(parts: WorkParts, stream: WorkStream): void {
  let session: Session | undefined;
  let farewell = false;
  // Items are handled in order. A registration waits for the database, and later items wait for the registration.
  let chain = Promise.resolve();
  const handle = async (item: WorkerItem): Promise<void> => {
    if (stream.signal.aborted) return;
    if (item.item.case === "register") {
      if (session === undefined) session = await register(parts, stream, item.item.value);
      else resize(parts, session, item.item.value);
    } else if (session === undefined) throw notRegistered();
    else if (item.item.case === "goodbye") {
      farewell = true;
      session.draining = true;
      stream.end();
    } else take(parts, session, item);
  };
  stream.listen({
    message: ({ items }) => {
      if (session !== undefined) noteAlive(parts, session);
      if (session !== undefined && items.every((item) => item.item.case !== "register")) {
        for (const item of items) void handle(item).catch((error) => stream.fail(error));
        return;
      }
      for (const item of items)
        chain = chain.then(() => handle(item)).catch((error) => stream.fail(error));
    },
    end: () => stream.end(),
  });
  const atEnd = async (): Promise<void> => {
    await stream.closed;
    await chain;
    if (session !== undefined) await leave(parts, session, farewell);
  };
  void atEnd();
}

async function register(parts: WorkParts, stream: WorkStream, hello: Register): Promise<Session> {
  checkRegister(hello, parts.builtIns);
  throwIfDraining(parts);
  const outgoing = new Outgoing(stream);
  const { nodeTypes, refused } = await admitTypes(parts, hello);
  const held = hello.held.flatMap((wire) => claimOf(wire) ?? []);
  const session: Session = new Session({
    executorId: executorId(hello.executorId),
    sessionId: crypto.randomUUID(),
    nodeTypes,
    externalTypes: hello.descriptors.flatMap(({ type, external }) => (external ? [type] : [])),
    refused,
    stateTypes: hello.descriptors.flatMap(({ type, state }) => (state ? [type] : [])),
    capacity: hello.slots,
    webhookSlots: hello.webhookSlots,
    held,
    send: (item, onSent) => outgoing.push(item, onSent),
    onOversize: (claim, oversize) => failOversize(parts, session, claim, oversize),
    onRoom: () => parts.loop.poll(),
    silentAfterMs: RENEWALS_MISSED * parts.renewMs,
    leaseMs: parts.leaseMs,
    end: (error) => stream.fail(error),
  });
  await parts.ensureQueues(nodeTypes);
  await readOn();
  if (stream.signal.aborted)
    throw new EngineError("CALLER_CANCELLED", "the executor left before it was registered");
  await enroll(parts, session, hello);
  session.send(registered(parts, session));
  await reconcile(parts, session, { held, graceMs: 0 });
  throwIfDraining(parts);
  METRICS.executorsConnected.add(1);
  if (stream.signal.aborted) {
    await leave(parts, session, false);
    throw new EngineError("CALLER_CANCELLED", "the executor left while it registered");
  }
  parts.connected.join(session);
  parts.log.info(
    { executor_id: session.executorId, capacity: hello.slots, held: held.length },
    "executor joined",
  );
  parts.loop.poll();
  if (session.webhookSlots > 0) parts.webhooks.joined();
  return session;
}

/** Makes this session represent its executor. No older session does from now on. */
async function enroll(parts: WorkParts, session: Session, hello: Register): Promise<void> {
  const hasId = await parts.executors.register({
    executorId: session.executorId,
    sessionId: session.sessionId,
    instanceId: hello.instanceId === "" ? null : hello.instanceId,
    nodeTypes: [...session.nodeTypes],
    slots: hello.slots,
    description: cleanText(hello.description),
    schedulerId: parts.schedulerId,
    ...(hello.process === undefined ? {} : { process: processOf(hello.process) }),
    leaseMs: parts.leaseMs,
    webhookSlots: session.webhookSlots,
  });
  if (!hasId) {
    const about = { executor_id: session.executorId, description: cleanText(hello.description) };
    parts.log.warn(about, "refused a second process with the id of a live executor");
    throw idTaken(session.executorId);
  }
  const older = parts.connected.find(session.executorId);
  if (older === undefined) return;
  parts.log.info({ executor_id: session.executorId }, "a newer stream speaks for this executor");
  older.supersede();
}

const processOf = ({ name, language, sdk, build }: WireProcess): HandlerProcess => ({
  processName: cleanText(name, LIMITS.labelLength),
  language: cleanText(language, LIMITS.labelLength),
  sdk: cleanText(sdk, LIMITS.labelLength),
  build: cleanText(build, LIMITS.labelLength),
});

/** Refuses the executor. It keeps its claims and names them to its next scheduler. */
function throwIfDraining({ connected }: WorkParts): void {
  if (connected.isDraining) throw new EngineError("DRAINING", "This scheduler is stopping.");
}

/**
 * Lets the event loop read the stream. A frozen scheduler reads a Register together with the end of its stream. If it stored the session,
 * the session would represent an executor that found another scheduler long ago. The renewals there would then not count any more.
 */
async function readOn(): Promise<void> {
  for (let turn = 0; turn < 2; turn += 1) await new Promise((resolve) => setImmediate(resolve));
}

/** The executor registers again on the same stream with another capacity. The capacity is 0 if the executor is about to stop. */
function resize(parts: WorkParts, session: Session, hello: Register): void {
  checkRegister(hello, parts.builtIns);
  if (hello.executorId !== session.executorId)
    throw invalidField("register.executor_id", "BAD_ID", "a stream speaks for one executor");
  session.resize(hello.slots);
  session.webhookSlots = hello.webhookSlots;
  session.makesCalls ||= hello.webhookSlots > 0;
  session.send(registered(parts, session));
  parts.loop.poll();
}

function registered(
  { schedulerId, leaseMs, renewMs }: WorkParts,
  { refused }: Session,
): SchedulerItemInit {
  const times = { leaseMs: BigInt(leaseMs), renewMs: BigInt(renewMs) };
  const value = { schedulerId, ...times, refused: [...refused] };
  return { item: { case: "registered", value } };
}

/** Records that the executor lives. A silent executor has room again. */
function noteAlive(parts: WorkParts, session: Session): void {
  const wasSilent = session.isSilent;
  session.received();
  if (wasSilent) parts.loop.poll();
}

function take(parts: WorkParts, session: Session, { item }: WorkerItem): void {
  switch (item.case) {
    case "outcome":
      return takeOutcome(parts, session, item.value);
    case "delta":
      return takeDelta(parts, session, item.value);
    case "log":
      return takeLog(parts, session, item.value);
    case "release":
      return takeRelease(parts, session, item.value);
    case "effectBegin":
      return takeEffectBegin(parts, session, item.value);
    case "effectCommit":
      return takeEffectCommit(parts, session, item.value);
    case "extend":
      return takeExtend(parts, session, item.value);
    case "webhookResult":
      return parts.webhooks.took(session, item.value);
    case "credit":
      session.grow(Math.min(item.value.slots, SLOTS_MAX));
      return parts.loop.poll();
    case "renew": {
      const held = item.value.held.flatMap((wire) => claimOf(wire) ?? []);
      session.silentMs = shownMs(item.value.silentMs);
      session.giveUpMs = shownMs(item.value.giveUpMs);
      parts.renewals.add(session);
      // Without an answer the executor would look for another scheduler.
      session.send({ item: { case: "renewed", value: {} } });
      const standing = { held, graceMs: ASSIGNMENT_GRACE_MS };
      void reconcile(parts, session, standing).catch((error: unknown) =>
        parts.log.warn({ err: error, executor_id: session.executorId }, "could not compare claims"),
      );
      return;
    }
    // The stream handles these items itself, or this build does not know them.
    case "register":
    case "goodbye":
    case undefined:
  }
}

/** A time that an executor reported for people. The bound keeps it inside the times of PostgreSQL, so it never fails a renewal. */
const shownMs = (ms: bigint): number => Math.min(Number(ms), LIMITS.shownSilenceMsMax);

async function leave(parts: WorkParts, session: Session, farewell: boolean): Promise<void> {
  parts.connected.leave(session);
  parts.renewals.drop(session);
  METRICS.executorsConnected.add(-1);
  parts.webhooks.left(session);
  // A newer session may represent the executor, here or at another scheduler. Then the claims and the life belong to that session.
  const isLast = !session.isSuperseded && (!farewell || (await isCurrent(parts, session)));
  const given = giveBack(parts, session, farewell && isLast ? "all" : "unsent");
  // This scheduler ended the stream. The executor is alive and connects to another scheduler, or to the next one here.
  if (farewell || session.draining) await given;
  if (!isLast || (session.draining && !farewell)) return;
  const graceMs = farewell ? 0 : parts.graceMs;
  parts.log.info({ executor_id: session.executorId, farewell }, "executor left");
  try {
    await parts.executors.expireSoon(session, graceMs);
  } catch (error) {
    // The lease ends by itself. Only the short grace is missing.
    parts.log.warn({ err: error, executor_id: session.executorId }, "could not shorten a lease");
  }
  parts.sweepSoon(graceMs);
  await given;
}

async function isCurrent({ executors, leaseMs, log }: WorkParts, session: Session) {
  try {
    return (await executors.renew([session], leaseMs)).has(session.sessionId);
  } catch (error) {
    log.warn({ err: error, executor_id: session.executorId }, "could not look for newer sessions");
    return true;
  }
}

const notRegistered = (): EngineError =>
  invalidField("items[0]", "NOT_REGISTERED", "the first item of a stream must be register");
