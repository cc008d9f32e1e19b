// Takes bulks forward, a step at a time. A step takes some runs, acts on them, and records what happened.
//
// Why each run is handled exactly once, wherever a scheduler dies:
//
// - There is a row for each run. The statement that takes a run counts an attempt before the act, and the statement that records it fills
//   the outcome only if it is empty, and counts it in the same transaction. So every run has one outcome.
// - A kill between the two leaves the attempt without an outcome. The next step takes the run again, and acts again under the same
//   idempotency key of the run (bulk-act.ts). So every run is acted on once.
//
// A cursor alone would not do. Behind a kill it could not tell which runs of its page were acted on. Then a pause by a person and a pause
// by the bulk look the same.
//
// Race: several schedulers. The holder of a session lock works. If its session dies while it still acts, another scheduler takes the same
// runs. Both acts have the same key, and the second record finds the outcome.

import { LIMITS } from "@pawl/core/data/limits";
import { unreachable } from "@pawl/core/fault/invariant";
import { EngineError } from "@pawl/core/fault/engine-error";
import { handledOf, judgeCanary, nextStep } from "@pawl/core/bulk/bulk";
import type { Queryable } from "@pawl/platform/db/query";
import { withSessionLock } from "@pawl/platform/db/session-lock";
import { probe } from "@pawl/platform/lifecycle/probe";
import type { BegunRun, BulkRecord, DueBulk, HandledRun } from "@pawl/platform/store/bulks/bulks";
import { countEffects } from "@pawl/platform/store/effects/reads";
import { readKnownTypes } from "@pawl/platform/store/node-types/reads";
import { METRICS } from "@pawl/platform/telemetry/catalogue";
import type { Logger } from "@pawl/platform/telemetry/log";
import { type ActingBulk, actOn, type ActParts, failureOf } from "../commands/bulk-act.ts";
import { Sweeper } from "./sweeper.ts";

export interface BulkSweepParts extends Omit<ActParts, "effectsOf"> {
  readonly log: Logger;
}

const LOCK = "pawl bulks";
/** Bulks that take turns. The others follow. */
const BULKS_MAX = 20;
/** How soon a scheduler tries again after another one held the lock. */
const LOCKED_MS = 500;
/** How soon a canary is judged again while its new runs have not ended. */
const CANARY_MS = 1_000;
const SECOND_MS = 1_000;
const DAY_MS = 24 * 3_600_000;
/** The most runs of old bulks that one statement deletes. */
const FORGOTTEN_MAX = 2_000;

interface BulkSweepers {
  readonly sweepers: { readonly bulks: Sweeper; readonly bulkLog: Sweeper };
  /** The next step of a bulk is due after this time. */
  readonly expect: (dueInMs: number) => void;
}

/**
 * Sweeps when this scheduler starts, when a bulk starts, and when a next step is due. A survey of the queues finds the bulks of schedulers
 * that died, and repeats after `surveyMs`. So the interval can be long.
 */
export function bulkSweepers(needed: BulkSweepParts, surveyMs: number): BulkSweepers {
  const { bulks: store, pool, log } = needed;
  const parts: Parts = { ...needed, effectsOf: (runId) => countEffects(pool, runId) };
  const sweep = async (): Promise<boolean> => {
    const afterMs = await sweepBulks(parts);
    if (afterMs !== undefined) bulks.soon(afterMs);
    return false;
  };
  const forget = (): Promise<boolean> => store.forget(LIMITS.bulkKeptMs, FORGOTTEN_MAX);
  const shared = { intervalMs: DAY_MS, log };
  const bulks: Sweeper = new Sweeper({ ...shared, name: "bulks", duty: sweep });
  const bulkLog = new Sweeper({ ...shared, name: "bulk-log", duty: forget });
  const expect = (dueInMs: number): void => {
    // A later survey finds a later step again.
    if (dueInMs < surveyMs) bulks.soon(Math.max(0, dueInMs));
  };
  return { sweepers: { bulks, bulkLog }, expect };
}

type Parts = ActParts & Pick<BulkSweepParts, "log">;

/** Takes each due bulk one step forward. Returns when the next step is due, if any is. */
async function sweepBulks(parts: Parts): Promise<number | undefined> {
  const { bulks, pool } = parts;
  const known = await bulks.active(BULKS_MAX);
  const soonestMs = dueOf(known);
  if (soonestMs === undefined || soonestMs > 0) return soonestMs;
  const afterMs = await withSessionLock(pool, LOCK, (session) => stepAll(parts, session));
  return afterMs ?? LOCKED_MS;
}

/** When the first of these bulks is due. */
const dueOf = (known: readonly DueBulk[]): number | undefined =>
  known[0] === undefined ? undefined : Math.max(0, known[0].dueInMs);

async function stepAll(parts: Parts, session: Queryable): Promise<number | undefined> {
  // Read again under the lock: another scheduler may have made these steps.
  for (const bulk of await parts.bulks.active(BULKS_MAX))
    if (bulk.dueInMs <= 0) await step(parts, session, bulk);
  return dueOf(await parts.bulks.active(BULKS_MAX));
}

async function step(parts: Parts, session: Queryable, bulk: BulkRecord): Promise<void> {
  const { bulks, log } = parts;
  const { bulkId, state: from } = bulk;
  const next = nextStep(bulk);
  switch (next.kind) {
    case "act":
      await actOnSome(parts, session, bulk, next);
      return;
    case "finish":
      if (await actOnSome(parts, session, bulk, next)) return;
      await bulks.end(bulkId);
      break;
    case "abort":
      await bulks.move({ bulkId, from, to: "aborted", reason: next.reason });
      return;
    case "complete":
      if (await bulks.move({ bulkId, from, to: "completed", reason: "" })) break;
      return;
    case "judge_canary":
      await passCanary(parts, bulk);
      return;
    case "rest":
      return;
    default:
      unreachable(next, "step");
  }
  const { matched, done, failed, skipped, action } = bulk;
  log.info({ bulk_id: bulkId, action, matched, done, failed, skipped }, "a bulk came to its end");
}

/** Continues behind the canary, or lets the bulk wait for a person. */
async function passCanary({ bulks }: Parts, bulk: BulkRecord): Promise<void> {
  const { bulkId } = bulk;
  const isWhole = handledOf(bulk) >= bulk.matched && bulk.failed === 0;
  const verdict = isWhole
    ? ({ kind: "continue" } as const)
    : judgeCanary(bulk, await bulks.canaryOf(bulkId));
  if (verdict.kind === "later") await bulks.delay(bulkId, CANARY_MS);
  if (verdict.kind === "continue")
    await bulks.move({ bulkId, from: "canary", to: "running", reason: "" });
  if (verdict.kind === "wait")
    await bulks.move({ bulkId, from: "canary", to: "waiting", reason: verdict.reason });
}

/** Acts on the next runs. False if there are none. */
async function actOnSome(
  parts: Parts,
  session: Queryable,
  bulk: BulkRecord,
  page: { readonly limit: number; readonly upTo: number },
): Promise<boolean> {
  const { bulks } = parts;
  const begun = await bulks.begin(bulk, page);
  if (begun.length === 0) return false;
  probe("bulk.begun");
  const facts = await bulks.factsOf(begun.map(({ runId }) => runId));
  const definition = await bulks.definitionOf(bulk.bulkId);
  const types = definition === undefined ? undefined : await readKnownTypes(session, definition);
  const acting: ActingBulk = { ...bulk, definition, types };
  const results = await Promise.all(
    begun.map(({ runId, attempts, ...rest }) =>
      handle(parts, acting, { runId, attempts, ...rest, facts: facts.get(runId) }),
    ),
  );
  const handled = results.filter((result) => result !== undefined);
  const afterMs = (begun.length / bulk.options.perSecond) * SECOND_MS;
  await bulks.record(bulk.bulkId, handled, afterMs);
  for (const { outcome } of handled) METRICS.bulkRuns.add(1, { action: bulk.action, outcome });
  return true;
}

/** What happened to a run. Undefined if the act is repeated by a later step. */
async function handle(
  parts: Parts,
  bulk: ActingBulk,
  { runId, position, attempts, facts }: BegunRun & Pick<Parameters<typeof actOn>[2], "facts">,
): Promise<HandledRun | undefined> {
  try {
    return { position, ...(await actOn(parts, bulk, { runId, facts, isRepeat: attempts > 1 })) };
  } catch (error) {
    const isFault = !(error instanceof EngineError && error.retryable);
    const about = { err: error, run_id: runId, bulk_id: bulk.bulkId };
    if (!(error instanceof EngineError)) parts.log.error(about, "a bulk could not act on a run");
    if (isFault || attempts >= LIMITS.bulkAttempts) return { position, ...failureOf(error) };
    parts.log.debug(about, "a bulk tries again");
    return undefined;
  }
}
