// Makes webhook calls for schedulers, through the egress guard and without following redirects. The scheduler has signed them. A result that
// a broken stream loses is harmless: the claim ends, and the call is made again under the same id. A call has a span in the trace of its run,
// and the receiver gets that trace.
//
// How it stops: running calls may end within the grace period. Then it aborts the others and gives them back.

import { probe } from "@pawl/platform/lifecycle/probe";
import { ATTRIBUTES, SPANS } from "@pawl/platform/telemetry/catalogue";
import { contextFrom, linksTo, withSpan } from "@pawl/platform/telemetry/trace";
import type { WebhookCall } from "@pawl/proto/pawl/worker/v1/worker_service_pb";
import { readBody } from "../egress/body.ts";
import { type Egress, egressOpen } from "../egress/fetch.ts";
import { retryAfterMs } from "../egress/retry-after.ts";
import type { WorkerItemInit } from "./fenced-writer.ts";
import type { WebhookCaller } from "./webhook-caller.ts";
import { within } from "./within.ts";

type Send = (item: WorkerItemInit) => void;

/** Makes calls and sends their results. */
export function webhookCalls(egress: Egress, send: Send): WebhookCaller {
  const running = new Map<string, Promise<void>>();
  const stopping = new AbortController();
  let isClosed = false;
  const make = async (call: WebhookCall): Promise<void> => {
    const { deliveryId, runId, epoch, attempt } = call;
    const began = performance.now();
    const signal = AbortSignal.any([
      stopping.signal,
      AbortSignal.timeout(Math.min(Number(call.timeoutMs), TIMEOUT_MS_MAX)),
    ]);
    const answer = await egressOpen(egress, {
      ...{ method: "POST", url: call.url, headers: call.headers },
      ...{ body: Buffer.from(call.body).toString("utf8"), signal, followsRedirects: false },
    });
    // The connection is used again only if the answer was read. Its text does not matter.
    if (answer.ok)
      await readBody(answer.body, { encoding: "", bytesMax: ANSWER_BYTES_MAX }).catch(() => {});
    probe("webhook.called");
    const claim = { deliveryId, runId, epoch, attempt };
    const latencyMs = BigInt(Math.round(performance.now() - began));
    if (!answer.ok && stopping.signal.aborted) return send(released(call));
    const value = answer.ok
      ? {
          ...{ ...claim, latencyMs, statusCode: answer.status },
          retryAfterMs: BigInt(retryAfterMs(answer.headers, Date.now()) ?? 0),
        }
      : {
          ...{ ...claim, latencyMs, error: answer.message },
          blocked: answer.cause === "url_blocked",
        };
    send({ item: { case: "webhookResult", value } });
  };
  return {
    take: (call) => {
      // The scheduler sent the call before it learned that this executor stops, or sent it twice.
      if (isClosed) return send(released(call));
      if (running.has(call.deliveryId)) return;
      running.set(
        call.deliveryId,
        withSpan(SPANS.webhook, spanSettings(call), () => make(call)).finally(() =>
          running.delete(call.deliveryId),
        ),
      );
    },
    stop: async (graceMs) => {
      isClosed = true;
      await within(Promise.all(running.values()), graceMs);
      stopping.abort();
      await within(Promise.all(running.values()), ABORT_MS);
    },
  };
}

/** The scheduler asks for less. */
const TIMEOUT_MS_MAX = 60_000;
/** A longer answer costs its connection. */
const ANSWER_BYTES_MAX = 64 * 1024;
/** How long aborted calls may take to end. */
const ABORT_MS = 1_000;

const spanSettings = ({ traceparent, runId, deliveryId, attempt }: WebhookCall) => ({
  parent: contextFrom(traceparent),
  links: linksTo(traceparent),
  attributes: {
    [ATTRIBUTES.runId]: runId,
    [ATTRIBUTES.deliveryId]: deliveryId,
    [ATTRIBUTES.call]: attempt,
  },
});

const released = ({ deliveryId, runId, epoch, attempt }: WebhookCall): WorkerItemInit => ({
  item: { case: "webhookResult", value: { deliveryId, runId, epoch, attempt, released: true } },
});
