// pawl webhook create, list, get, update, rotate, delete, deliveries, delivery, redeliver.

import {
  type DeliveryState,
  deliveryStateName,
  plainWebhookAttempt,
  plainWebhookDelivery,
  plainWebhookEndpoint,
  type WebhookEndpointInput,
} from "@pawl/client";
import type { WebhookDelivery, WebhookEndpoint } from "@pawl/proto/pawl/v1/webhook_pb";
import { type Command, Option } from "commander";
import {
  collect,
  pageFlags,
  type PageFlags,
  requestIdFlag,
  type Verb,
  wholeNumber,
} from "../grammar.ts";
import { isoText } from "../render/words.ts";
import { print, printList, type Session, UsageError } from "../session.ts";

const STATES: readonly DeliveryState[] = ["pending", "delivered", "dead"];

export function webhookVerbs(webhook: Command, verb: Verb): void {
  const spec = (command: Command): Command =>
    command
      .option("--url <url>", "where to call: http or https, without credentials")
      .option("--description <text>", "for people")
      .option("--event <type>", "an event such as run.failed; may be repeated", collect)
      .option("--workflow <id>", "only runs of this workflow; may be repeated", collect)
      .option("--by-reference", "only runs and workflows that name it")
      .option("--header <name=value>", "a header of every call; may be repeated", collect);
  const creates = "Create an endpoint and print its secret, once";
  requestIdFlag(
    spec(verb(webhook, "create <endpoint>", creates, create)).option(
      "--secret <secret>",
      "whsec_ and base64; default a new one",
    ),
  );
  pageFlags(verb(webhook, "list", "List endpoints", list));
  verb(webhook, "get <endpoint>", "Show an endpoint", get);
  spec(verb(webhook, "update <endpoint>", "Change an endpoint; fields without a flag stay", update))
    .option("--disable", "switch it off")
    .option("--enable", "switch it on again");
  const rotates = "Give an endpoint another secret and print it, once";
  verb(webhook, "rotate <endpoint>", rotates, rotate)
    .option("--secret <secret>", "whsec_ and base64; default a new one")
    .option("--overlap-s <seconds>", "how long the old secret signs too", wholeNumber);
  verb(webhook, "delete <endpoint>", "Delete an endpoint", remove);
  pageFlags(
    verb(webhook, "deliveries", "List deliveries, newest first", deliveries)
      .option("--run <id>", "only of this run")
      .option("--endpoint <id>", "only to this endpoint")
      .addOption(
        new Option("--state <state...>", "pending, delivered or dead").choices([...STATES]),
      ),
  );
  verb(webhook, "delivery <id>", "Show a delivery with its body and its calls", delivery);
  verb(webhook, "redeliver <id>", "Send a delivery again, under the same id", redeliver);
}

interface SpecFlags {
  readonly url?: string;
  readonly description?: string;
  readonly event?: readonly string[];
  readonly workflow?: readonly string[];
  readonly byReference?: boolean;
  readonly header?: readonly string[];
}

/** The fields that the flags name. */
function given(flags: SpecFlags): Partial<WebhookEndpointInput> {
  const { url, description, event: events, workflow: workflowIds, byReference, header } = flags;
  const headers = header && Object.fromEntries(header.map(headerOf));
  const fields = { url, description, events, workflowIds, byReference, headers };
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined));
}

function headerOf(text: string): readonly [string, string] {
  const at = text.indexOf("=");
  if (at <= 0) throw new UsageError(`--header takes NAME=VALUE, not ${text}.`);
  return [text.slice(0, at), text.slice(at + 1)];
}

async function create(
  session: Session,
  endpointId: string,
  flags: SpecFlags & { readonly secret?: string; readonly requestId?: string },
): Promise<void> {
  const { url, secret, requestId } = flags;
  if (url === undefined) throw new UsageError("Name the address to call: --url URL.");
  const { client, interrupted: signal } = session;
  const options = { secret, requestId, signal };
  const made = await client.webhooks.create(endpointId, { ...given(flags), url }, options);
  showSecret(session, made.endpoint, made.secret);
}

async function list(session: Session, { limit, pageToken }: PageFlags): Promise<void> {
  const { client, interrupted: signal, self } = session;
  const page = await client.webhooks.list({ pageSize: limit, pageToken, signal });
  const { endpoints: items, nextPageToken } = page;
  printList(session, {
    items,
    json: { endpoints: items.map(plainWebhookEndpoint), nextPageToken },
    none: `No endpoints. Make one with \`${self} webhook create ID --url URL\`.`,
    heads: ["ENDPOINT", "STATE", "EVENTS", "WORKFLOWS", "URL"],
    rowOf: (each) => [
      each.endpointId,
      each.disabled ? "off" : "on",
      each.spec?.events.join(" ") ?? "",
      each.spec?.byReference === true ? "by reference" : (each.spec?.workflowIds.join(" ") ?? ""),
      each.spec?.url ?? "",
    ],
    next: [`${self} webhook list`, nextPageToken],
  });
}

async function get(session: Session, endpointId: string): Promise<void> {
  const { client, interrupted: signal } = session;
  show(session, await client.webhooks.get(endpointId, { signal }));
}

/** Changes the named fields. Race: another client edits the endpoint meanwhile. The server refuses this edit. */
async function update(
  session: Session,
  endpointId: string,
  flags: SpecFlags & { readonly disable?: boolean; readonly enable?: boolean },
): Promise<void> {
  const { disable = false, enable = false } = flags;
  if (disable && enable) throw new UsageError("Give --disable or --enable, not both.");
  const { client, interrupted: signal } = session;
  const known = await client.webhooks.get(endpointId, { signal });
  const { $typeName: _name, $unknown: _unknown, ...present } = known.spec ?? { url: "" };
  const disabled = disable || (known.disabled && !enable);
  const options = { disabled, expectedVersion: known.version, signal };
  const input = { ...present, ...given(flags) };
  show(session, await client.webhooks.update(endpointId, input, options));
}

async function rotate(
  session: Session,
  endpointId: string,
  { secret, overlapS }: { readonly secret?: string; readonly overlapS?: number },
): Promise<void> {
  const { client, interrupted: signal } = session;
  const overlapMs = overlapS === undefined ? undefined : overlapS * 1_000;
  const made = await client.webhooks.rotateSecret(endpointId, { secret, overlapMs, signal });
  showSecret(session, made.endpoint, made.secret);
}

async function remove(session: Session, endpointId: string): Promise<void> {
  await session.client.webhooks.delete(endpointId, { signal: session.interrupted });
  print(session, { endpointId, deleted: true }, () => [
    `${endpointId} deleted; its pending deliveries end as dead`,
  ]);
}

async function deliveries(
  session: Session,
  flags: PageFlags & {
    readonly run?: string;
    readonly endpoint?: string;
    readonly state?: readonly DeliveryState[];
  },
): Promise<void> {
  const { run: runId, endpoint: endpointId, state: states, limit: pageSize, pageToken } = flags;
  const { client, interrupted: signal, self } = session;
  const asked = { runId, endpointId, states, pageSize, pageToken, signal };
  const { deliveries: items, nextPageToken } = await client.webhooks.deliveries(asked);
  printList(session, {
    items,
    json: { deliveries: items.map(plainWebhookDelivery), nextPageToken },
    none: "No deliveries.",
    heads: ["DELIVERY", "STATE", "EVENT", "RUN", "ATTEMPTS", "STATUS", "WHY"],
    rowOf: (each) => [
      each.deliveryId,
      deliveryStateName(each.state),
      each.eventType,
      each.runId,
      String(each.attempts),
      each.statusCode === 0 ? "" : String(each.statusCode),
      each.waitingReason || each.error,
    ],
    next: [`${self} webhook deliveries`, nextPageToken],
  });
}

async function delivery(session: Session, deliveryId: string): Promise<void> {
  const { client, interrupted: signal } = session;
  const found = await client.webhooks.delivery(deliveryId, { signal });
  const json = {
    ...plainWebhookDelivery(found.delivery),
    attempts_log: found.attempts.map(plainWebhookAttempt),
    body: found.body,
  };
  print(session, json, () => [
    ...deliveryLines(found.delivery),
    ...found.attempts.map(({ number, endTime, statusCode, latencyMs, error }) =>
      `call ${number}  ${isoText(endTime)}  ${statusCode || "-"}  ${latencyMs} ms  ${error}`.trimEnd(),
    ),
    found.body,
  ]);
}

async function redeliver(session: Session, deliveryId: string): Promise<void> {
  const { client, interrupted: signal } = session;
  const again = await client.webhooks.redeliver(deliveryId, { signal });
  print(session, plainWebhookDelivery(again), () => deliveryLines(again));
}

const deliveryLines = (each: WebhookDelivery): string[] =>
  [
    ["delivery", each.deliveryId],
    ["state", deliveryStateName(each.state)],
    ["event", `${each.eventType} (${each.eventId}) of run ${each.runId}`],
    ["to", each.endpointId === "" ? each.url : `${each.endpointId}, ${each.url}`],
    ["attempts", String(each.attempts)],
    ["error", each.error],
    ["next call", isoText(each.nextAttemptTime)],
    ["waits", each.waitingReason],
  ].flatMap(([name = "", value = ""]) => (value === "" ? [] : [`${name.padEnd(10)}${value}`]));

const show = (session: Session, endpoint: WebhookEndpoint): void =>
  print(session, plainWebhookEndpoint(endpoint), () => endpointLines(endpoint));

const showSecret = (session: Session, endpoint: WebhookEndpoint, secret: string): void =>
  print(session, { ...plainWebhookEndpoint(endpoint), secret }, () => [
    ...endpointLines(endpoint),
    `secret    ${secret}`,
    "Keep the secret: no other command prints it.",
  ]);

const endpointLines = ({ endpointId, spec, ...rest }: WebhookEndpoint): string[] => [
  `endpoint  ${endpointId}`,
  `url       ${spec?.url ?? ""}`,
  `events    ${spec?.events.join(" ") ?? ""}`,
  `state     ${rest.disabled ? `off: ${rest.disabledReason}` : "on"}`,
  `version   ${rest.version}`,
];
