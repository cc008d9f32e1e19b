// Gives due webhook deliveries to connected executors, and records how their calls ended. A delivery is claimed in its own row with an epoch
// (`store/webhooks`), so a finished run needs no lease, and a call never touches its run.
//
// Races. An executor dies in a call, or its stream breaks: the claim ends after a short grace, and the next one sends the same id again. The
// executor reports at another scheduler, or late: its claim counts until another one begins. The scheduler dies: the claim ends with its
// lease. The database fails when a result arrives: the call is made again. Receivers recognise the id.
//
// A receiver that does not answer holds its calls until they time out. So a receiver gets at most half of the slots, and at least one. The
// others stay free for other receivers. The share counts the calls of this scheduler's executors, because only this scheduler fills them.

import { isUuid, runId } from "@pawl/core/name/ids";
import { judgeCall, type RetryTimes, type Verdict } from "@pawl/core/policy/webhook";
import { LIMITS } from "@pawl/core/data/limits";
import type {
  ClaimedDelivery,
  DeliveryClaim,
  Webhooks,
} from "@pawl/platform/store/webhooks/webhooks";
import { CLOCK_SLACK_MS } from "@pawl/platform/db/clock";
import { METRICS } from "@pawl/platform/telemetry/catalogue";
import type { Logger } from "@pawl/platform/telemetry/log";
import type { WebhookResult } from "@pawl/proto/pawl/worker/v1/worker_service_pb";
import type { ConnectedExecutors } from "./connected-executors.ts";
import type { Session } from "./session.ts";
import { signedCall } from "./sign-webhook.ts";
import { cleanText } from "./wire-text.ts";

/** The most deliveries that one statement claims. */
const CLAIMED_MAX = 64;
/** Later deadlines are found by the survey of the queues. */
const NEAR_MS = 60_000;

export interface DeskOptions {
  readonly webhooks: Pick<Webhooks, "claim" | "settle" | "release">;
  readonly connected: Pick<ConnectedExecutors, "sessions">;
  readonly times: RetryTimes;
  /** How long a claim lives after the stream of its executor broke. */
  readonly graceMs: number;
  readonly now: () => number;
  /** A random number from 0 to 1. */
  readonly chance: () => number;
  readonly log: Logger;
  /** Calls `sweep` after this time. */
  readonly sweepSoon: (afterMs: number) => void;
}

export class WebhookDesk {
  readonly #options: DeskOptions;

  constructor(options: DeskOptions) {
    this.#options = options;
  }

  /** A delivery is due after this time. */
  expect(dueInMs: number): void {
    if (dueInMs <= NEAR_MS) this.#options.sweepSoon(Math.max(0, dueInMs) + CLOCK_SLACK_MS);
  }

  /** An executor with room for calls is here. */
  joined(): void {
    this.expect(0);
  }

  /** Claims due deliveries and gives them to executors. Returns whether more may be due. */
  async sweep(): Promise<boolean> {
    const { webhooks, connected } = this.#options;
    const room = connected.sessions.reduce((sum, session) => sum + session.webhookRoom, 0);
    const limit = Math.min(room, CLAIMED_MAX);
    if (limit === 0) return false;
    const slots = connected.sessions.reduce((sum, session) => sum + session.webhookSlots, 0);
    const share = Math.max(1, Math.floor(slots / 2));
    const busy = countedBy(connected.sessions.flatMap(({ calls }) => [...calls.values()]));
    const claimed = await webhooks.claim(limit, { share, busy });
    await Promise.all(claimed.map((delivery) => this.#give(delivery)));
    // A receiver with many due deliveries may have hidden others. With its share it hides none.
    const counted = countedBy(claimed, busy);
    const isFull = claimed.some(({ receiver }) => (counted.get(receiver) ?? 0) >= share);
    return claimed.length === limit || isFull;
  }

  /** An executor reports how a call ended. Only an executor that may make calls is believed. */
  took(session: Session, result: WebhookResult): void {
    const { deliveryId, runId: run } = result;
    if (!isUuid(deliveryId) || !isUuid(run)) return;
    if (!session.makesCalls) {
      METRICS.webhookCalls.add(1, { outcome: "refused" });
      this.#options.log.warn(
        { executor_id: session.executorId, delivery_id: deliveryId },
        "ignored the result of a webhook call from an executor that makes no calls",
      );
      return;
    }
    session.calls.delete(deliveryId);
    const claim = { runId: runId(run), deliveryId, epoch: Number(result.epoch) };
    const recorded = result.released
      ? this.#options.webhooks.release([claim], 0)
      : this.#record(claim, session, result);
    recorded
      .catch((error: unknown) =>
        this.#options.log.warn(
          { err: error, delivery_id: deliveryId },
          "a webhook call is not recorded; it is made again",
        ),
      )
      .finally(() => this.expect(0));
  }

  /** The stream of an executor ended. */
  left(session: Session): void {
    const claims = [...session.calls.values()];
    session.calls.clear();
    if (claims.length === 0) return;
    const { webhooks, graceMs, log } = this.#options;
    METRICS.webhookCalls.add(claims.length, { outcome: "lost" });
    webhooks.release(claims, graceMs).then(
      () => this.expect(graceMs),
      (error: unknown) =>
        log.warn({ err: error }, "webhook calls wait for the end of their claims"),
    );
  }

  async #give(delivery: ClaimedDelivery): Promise<void> {
    const { webhooks, connected, now } = this.#options;
    const { runId: run, deliveryId, epoch, attempts, url, refusal } = delivery;
    const claim = { runId: run, deliveryId, epoch };
    if (refusal !== "") {
      await this.#settle(claim, DEAD, { statusCode: 0, error: refusal, latencyMs: 0 });
      return;
    }
    const [session] = connected.sessions.toSorted((a, b) => b.webhookRoom - a.webhookRoom);
    // The executor left while the deliveries were claimed.
    if (session === undefined || session.webhookRoom === 0) return webhooks.release([claim], 0);
    session.calls.set(deliveryId, { ...claim, receiver: delivery.receiver });
    const { headers, body } = signedCall(delivery, now());
    const call = {
      ...{ deliveryId, runId: run, epoch: BigInt(epoch), attempt: attempts + 1 },
      ...{ url, headers, body: Buffer.from(body) },
      timeoutMs: BigInt(LIMITS.webhookTimeoutMs),
      traceparent: delivery.traceparent ?? "",
    };
    session.send({ item: { case: "webhookCall", value: call } });
  }

  async #record(claim: DeliveryClaim, session: Session, result: WebhookResult): Promise<void> {
    const { times, chance } = this.#options;
    const call = {
      statusCode: result.statusCode,
      error: cleanText(result.error, LIMITS.labelLength),
      isBlocked: result.blocked,
      retryAfterMs: Math.min(Number(result.retryAfterMs), LIMITS.retryAfterMsMax),
    };
    const verdict = judgeCall(call, result.attempt, times, chance());
    const { statusCode } = call;
    const latencyMs = Number(result.latencyMs);
    METRICS.webhookCallDuration.record(latencyMs / 1_000);
    const about = { statusCode, error: verdict.error, latencyMs, executorId: session.executorId };
    await this.#settle(claim, verdict, about);
    if (verdict.state === "pending") this.expect(verdict.delayMs);
  }

  async #settle(
    claim: DeliveryClaim,
    { state, delayMs, isGone }: Pick<Verdict, "state" | "delayMs" | "isGone">,
    about: {
      readonly statusCode: number;
      readonly error: string;
      readonly latencyMs: number;
      readonly executorId?: string;
    },
  ): Promise<void> {
    const { webhooks, log } = this.#options;
    const { executorId = null, ...rest } = about;
    const isCurrent = await webhooks.settle({
      ...{ ...claim, ...rest, executorId },
      ...{ state, delayMs, isGone },
    });
    const outcome = state === "pending" ? "failed" : state;
    METRICS.webhookCalls.add(1, { outcome: isCurrent ? outcome : "lost" });
    if (state !== "dead" || !isCurrent) return;
    const named = { delivery_id: claim.deliveryId, run_id: claim.runId, error: rest.error };
    log.warn(named, "a webhook is not delivered, and no more calls are made");
  }
}

const DEAD = { state: "dead", delayMs: 0, isGone: false } as const;

/** How many calls each receiver gets, with those that were counted before. */
function countedBy(
  calls: readonly Pick<ClaimedDelivery, "receiver">[],
  before: ReadonlyMap<string, number> = new Map(),
): Map<string, number> {
  const counted = new Map(before);
  for (const { receiver } of calls) counted.set(receiver, (counted.get(receiver) ?? 0) + 1);
  return counted;
}
