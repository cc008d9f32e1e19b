// Signs webhook calls by Standard Webhooks: HMAC-SHA256 over id, time and body. Every present secret gives one signature, so a receiver may
// know either of two during a rotation.

import { createHmac } from "node:crypto";
import { webhookBody } from "@pawl/core/log/result";
import type { ClaimedDelivery } from "@pawl/platform/store/webhooks/webhooks";

interface SignedCall {
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

/** The headers and the body of a call at a time in milliseconds. */
export function signedCall(delivery: ClaimedDelivery, now: number): SignedCall {
  const { createdAt: at, deliveryId, secret, previousSecret } = delivery;
  const body = webhookBody({ ...delivery, at });
  const time = String(Math.floor(now / 1_000));
  const signatures = [secret, previousSecret].flatMap((key) =>
    key === null
      ? []
      : [
          `v1,${createHmac("sha256", key).update(`${deliveryId}.${time}.${body}`).digest("base64")}`,
        ],
  );
  const headers = {
    "content-type": "application/json",
    "user-agent": "pawl-webhooks",
    ...delivery.headers,
    "webhook-id": deliveryId,
    "webhook-timestamp": time,
    ...(signatures.length === 0 ? {} : { "webhook-signature": signatures.join(" ") }),
  };
  return { headers, body };
}
