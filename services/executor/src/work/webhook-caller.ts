// What a worker needs to make webhook calls. A worker of a user's own handlers makes none, so this file imports no HTTP client.

import type { WebhookCall } from "@pawl/proto/pawl/worker/v1/worker_service_pb";

export interface WebhookCaller {
  take(call: WebhookCall): void;
  stop(graceMs: number): Promise<void>;
}
