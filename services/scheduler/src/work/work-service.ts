// One executor's stream: registered → working → (goodbye, a broken stream or our own drain) gone.
//
// Nothing hangs on a message. The lease commits before the assignment is sent, so either side may die in between: an executor
// names the claims it holds when it registers and with each renewal, and what it does not hold is taken back.
// A stream that breaks shortens the executor's life to a short grace, unless a newer stream speaks for it by then.

import { EngineError, invalidField } from "@pawl/core/fault/engine-error";
import { executorId, isName, isUuid } from "@pawl/core/name/ids";
import { METRICS } from "@pawl/platform/telemetry/catalogue";
import type { Logger } from "@pawl/platform/telemetry/log";
import type { Executors } from "@pawl/platform/store/executors";
import type { Register, WorkerItem } from "@pawl/proto/pawl/worker/v1/worker_service_pb";
import type { TickLoop } from "../tick/loop.ts";
import { Outgoing, type WorkStream } from "./outgoing.ts";
import { giveBack } from "./give-back.ts";
import { ASSIGNMENT_GRACE_MS, reconcile } from "./reconcile.ts";
import type { Renewals } from "./renewals.ts";
import type { Roster } from "./roster.ts";
import { type SchedulerItemInit, Session } from "./session.ts";
import { failOversize, takeDelta, takeExtend, takeLog, takeOutcome, takeRelease } from "./take.ts";
import { takeEffectBegin, takeEffectCommit } from "./take-effect.ts";
import { claimOf, cleanText } from "./wire.ts";

const SLOTS_MAX = 10_000;
const TYPES_MAX = 1_000;
/** An executor that missed so many renewals is taken for frozen, before its lease runs out. */
const RENEWALS_MISSED = 2;

export interface WorkParts {
  readonly schedulerId: string;
  readonly loop: TickLoop;
  readonly roster: Roster;
  readonly executors: Executors;
  readonly renewals: Renewals;
  readonly log: Logger;
  readonly leaseMs: number;
  readonly renewMs: number;
  /** How long the leases of an executor whose stream broke live on. */
  readonly graceMs: number;
  /** Looks for lost leases; called when a grace has passed. */
  readonly sweepSoon: (afterMs: number) => void;
  /** Makes sure that queues exist for node types. */
  readonly ensureQueues: (nodeTypes: readonly string[]) => Promise<void>;
}

/** Serves one Work stream. */
export function serveWork(parts: WorkParts, stream: WorkStream): void {
  let session: Session | undefined;
  let farewell = false;
  // Items are handled in order; registering waits for the database, and what follows waits for it.
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
      if (session !== undefined) hear(parts, session);
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
  checkRegister(hello);
  throwIfDraining(parts);
  const outgoing = new Outgoing(stream);
  // An offer ends with its connection.
  const held = hello.held
    .filter(({ offer }) => offer === 0n)
    .flatMap((wire) => claimOf(wire) ?? []);
  const session: Session = new Session({
    executorId: executorId(hello.executorId),
    sessionId: crypto.randomUUID(),
    nodeTypes: hello.nodeTypes,
    instantTypes: hello.instantTypes,
    slots: hello.slots,
    held,
    send: (item, onSent) => outgoing.push(item, onSent),
    onOversize: (claim, oversize) => failOversize(parts, session, claim, oversize),
    onRoom: () => parts.loop.nudge(),
    silentAfterMs: RENEWALS_MISSED * parts.renewMs,
    leaseMs: parts.leaseMs,
  });
  await parts.ensureQueues(hello.nodeTypes);
  await heardAll();
  if (stream.signal.aborted)
    throw new EngineError("CALLER_CANCELLED", "the executor left before it was registered");
  await parts.executors.register({
    executorId: session.executorId,
    sessionId: session.sessionId,
    nodeTypes: hello.nodeTypes,
    slots: hello.slots,
    description: cleanText(hello.description),
    leaseMs: parts.leaseMs,
  });
  session.send(registered(parts));
  const dropped = hello.dropped.flatMap((wire) => claimOf(wire) ?? []);
  await reconcile(parts, session, { held, dropped, graceMs: 0 });
  throwIfDraining(parts);
  METRICS.executorsConnected.add(1);
  if (stream.signal.aborted) {
    await leave(parts, session, false);
    throw new EngineError("CALLER_CANCELLED", "the executor left while it registered");
  }
  parts.roster.join(session);
  parts.log.info(
    { executor_id: session.executorId, slots: hello.slots, held: held.length },
    "executor joined",
  );
  parts.loop.nudge();
  return session;
}

/** It keeps what it holds: its next scheduler is told. */
function throwIfDraining({ roster }: WorkParts): void {
  if (roster.isDraining) throw new EngineError("DRAINING", "This scheduler is stopping.");
}

/**
 * Lets the event loop read on. A scheduler that stood still hears a Register together with its withdrawal: written down, it would
 * speak for an executor that has long found another scheduler, and whose renewals there would count no more.
 */
async function heardAll(): Promise<void> {
  for (let turn = 0; turn < 2; turn += 1) await new Promise((resolve) => setImmediate(resolve));
}

/** Register again on the same stream: the executor has another number of slots, none when it is about to leave. */
function resize(parts: WorkParts, session: Session, hello: Register): void {
  checkRegister(hello);
  if (hello.executorId !== session.executorId)
    throw invalidField("register.executor_id", "BAD_ID", "a stream speaks for one executor");
  session.resize(hello.slots);
  session.send(registered(parts));
  parts.loop.nudge();
}

function registered({ schedulerId, leaseMs, renewMs }: WorkParts): SchedulerItemInit {
  const value = { schedulerId, leaseMs: BigInt(leaseMs), renewMs: BigInt(renewMs) };
  return { item: { case: "registered", value } };
}

/** Notes that the executor lives; one that was silent has room again. */
function hear(parts: WorkParts, session: Session): void {
  const wasSilent = session.isSilent;
  session.heard();
  if (wasSilent) parts.loop.nudge();
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
    case "credit":
      session.grow(Math.min(item.value.slots, SLOTS_MAX));
      return parts.loop.nudge();
    case "renew": {
      const held = item.value.held.flatMap((wire) => claimOf(wire) ?? []);
      parts.renewals.add(session);
      // Says that this scheduler lives: an executor that hears nothing looks for another one.
      session.send({ item: { case: "renewed", value: {} } });
      const standing = { held, graceMs: ASSIGNMENT_GRACE_MS };
      void reconcile(parts, session, standing).catch((error: unknown) =>
        parts.log.warn({ err: error, executor_id: session.executorId }, "could not compare claims"),
      );
      return;
    }
    // Handled by the stream itself, or not known to this build.
    case "register":
    case "goodbye":
    case undefined:
  }
}

async function leave(parts: WorkParts, session: Session, farewell: boolean): Promise<void> {
  parts.roster.leave(session);
  parts.renewals.drop(session);
  METRICS.executorsConnected.add(-1);
  const given = giveBack(parts, session, farewell ? "all" : "unsent");
  // Sent away by us: it is alive and on its way to another scheduler, or waits for the next one here.
  if (farewell || session.draining) await given;
  if (session.draining && !farewell) return;
  const graceMs = farewell ? 0 : parts.graceMs;
  parts.log.info({ executor_id: session.executorId, farewell }, "executor left");
  try {
    await parts.executors.expireSoon(session, graceMs);
  } catch (error) {
    // The lease runs out by itself; only the short grace is lost.
    parts.log.warn({ err: error, executor_id: session.executorId }, "could not shorten a lease");
  }
  parts.sweepSoon(graceMs);
  await given;
}

function checkRegister(hello: Register): void {
  if (!isUuid(hello.executorId))
    throw invalidField("register.executor_id", "BAD_ID", "must be a UUID");
  if (hello.slots > SLOTS_MAX)
    throw invalidField("register.slots", "OUT_OF_RANGE", `must be at most ${SLOTS_MAX}`);
  if (hello.nodeTypes.length === 0 || hello.nodeTypes.length > TYPES_MAX)
    throw invalidField("register.node_types", "OUT_OF_RANGE", `must name 1 to ${TYPES_MAX} types`);
  const bad = hello.nodeTypes.findIndex((type) => !isName(type));
  if (bad >= 0)
    throw invalidField(`register.node_types[${bad}]`, "BAD_ID", "must be a name of [A-Za-z0-9._-]");
  const served = new Set(hello.nodeTypes);
  const odd = hello.instantTypes.findIndex((type) => !served.has(type));
  if (odd >= 0)
    throw invalidField(`register.instant_types[${odd}]`, "BAD_ID", "must be one of node_types");
}

const notRegistered = (): EngineError =>
  invalidField("items[0]", "NOT_REGISTERED", "the first item of a stream must be register");
