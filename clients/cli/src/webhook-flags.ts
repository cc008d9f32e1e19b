// The receiver of events of a run from the command line.

import type { WebhookOptions } from "@pawl/client";
import type { Command } from "commander";
import { collect } from "./grammar.ts";
import { UsageError } from "./session.ts";

export interface WebhookFlags {
  readonly webhook?: string;
  readonly webhookEndpoint?: string;
  readonly webhookEvent?: readonly string[];
}

export const webhookFlags = (command: Command): Command =>
  command
    .option("--webhook <url>", "call this address when the run ends")
    .option("--webhook-endpoint <id>", "sign the calls as this endpoint, or call it")
    .option("--webhook-event <type>", "call at this event instead; may be repeated", collect);

/** The receiver that the flags name. @throws UsageError */
export function webhookOf(flags: WebhookFlags): WebhookOptions {
  const { webhook: url, webhookEvent: events, webhookEndpoint: endpointId } = flags;
  const isNamed = url !== undefined || endpointId !== undefined;
  if (!isNamed && events !== undefined)
    throw new UsageError("--webhook-event needs --webhook URL or --webhook-endpoint ID.");
  return isNamed ? { webhook: { url, events, endpointId } } : {};
}
