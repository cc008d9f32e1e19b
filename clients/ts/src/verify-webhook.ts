// Checks the signature of a webhook for its receiver, by Standard Webhooks. It uses Web Crypto, so it works in Node and in other runtimes.

import type { Json } from "./json.ts";

/** Headers of a request: of `fetch`, or an object such as `request.headers` of Node. */
export type WebhookHeaders =
  | { get(name: string): string | null }
  | Readonly<Record<string, string | readonly string[] | undefined>>;

/** The event of a webhook. */
export interface WebhookEvent {
  /** Dotted, such as run.completed. */
  readonly type: string;
  /** When the event was committed. */
  readonly timestamp: string;
  /** The event, and the record of its run under `result`. Names are in snake_case. */
  readonly data: { readonly event_id: number; readonly result: Readonly<Record<string, Json>> };
}

/** Why a webhook is refused. Answer it with the status 400. */
export class WebhookRefused extends Error {
  override readonly name = "WebhookRefused";
}

const TOLERANCE_SECONDS = 300;
const SECRET_PREFIX = "whsec_";

export interface VerifyOptions {
  /** The present time in milliseconds. By default the clock of this machine. */
  readonly now?: number | undefined;
}

/**
 * Checks that a body was sent by Pawl, less than five minutes ago, and returns its event. Pass the body exactly as it arrived. Several secrets
 * may be valid during a rotation. Store the header `webhook-id`: a delivery may come twice. @throws WebhookRefused
 */
export async function verifyWebhook(
  headers: WebhookHeaders,
  body: string | Uint8Array,
  secret: string | readonly string[],
  { now = Date.now() }: VerifyOptions = {},
): Promise<WebhookEvent> {
  const [id, time, signatures] = ["webhook-id", "webhook-timestamp", "webhook-signature"].map(
    (name) => headerOf(headers, name),
  );
  if (!id || !time || !signatures)
    throw new WebhookRefused(
      "a header is missing: webhook-id, webhook-timestamp or webhook-signature",
    );
  if (!/^\d{1,12}$/.test(time) || Math.abs(now / 1_000 - Number(time)) > TOLERANCE_SECONDS)
    throw new WebhookRefused("the timestamp is more than five minutes from now");
  const bytes = typeof body === "string" ? new TextEncoder().encode(body) : body;
  const head = new TextEncoder().encode(`${id}.${time}.`);
  const signed = new Uint8Array(head.length + bytes.length);
  signed.set(head);
  signed.set(bytes, head.length);
  const given = signatures.split(" ").flatMap((each) => each.match(/^v1,(.+)$/)?.[1] ?? []);
  for (const each of typeof secret === "string" ? [secret] : secret) {
    const key = await keyOf(each);
    for (const text of given) {
      const signature = bytesIn(text);
      if (signature !== undefined && (await crypto.subtle.verify("HMAC", key, signature, signed)))
        // The signature proves that Pawl wrote it.
        return JSON.parse(new TextDecoder().decode(bytes)) as WebhookEvent;
    }
  }
  throw new WebhookRefused("no signature matches");
}

function headerOf(headers: WebhookHeaders, name: string): string | undefined {
  if (typeof headers["get"] === "function") {
    // A record of headers has texts only.
    return (headers as { get(name: string): string | null }).get(name) ?? undefined;
  }
  const value = (headers as Readonly<Record<string, string | readonly string[] | undefined>>)[name];
  return typeof value === "string" ? value : value?.[0];
}

/** @throws WebhookRefused if the receiver's own secret is not one */
function keyOf(secret: string): Promise<CryptoKey> {
  const bytes = secret.startsWith(SECRET_PREFIX)
    ? bytesIn(secret.slice(SECRET_PREFIX.length))
    : undefined;
  if (bytes === undefined || bytes.length === 0)
    throw new WebhookRefused("the secret is not whsec_ and base64");
  const algorithm = { name: "HMAC", hash: "SHA-256" };
  return crypto.subtle.importKey("raw", bytes, algorithm, false, ["verify"]);
}

function bytesIn(base64: string): Uint8Array<ArrayBuffer> | undefined {
  try {
    return Uint8Array.from(atob(base64), (character) => character.charCodeAt(0));
  } catch {
    return undefined;
  }
}
