// Signals to runs.

import type { Client } from "@connectrpc/connect";
import type { Run } from "@pawl/proto/pawl/v1/run_pb";
import type { RunService } from "@pawl/proto/pawl/v1/run_service_pb";
import { type Caller, identified, type MutationOptions } from "./caller.ts";
import { startedOf } from "./execute.ts";
import { bytesOf, type Json } from "./json.ts";

export interface SignalOptions extends MutationOptions {
  /** The payload as a value. */
  readonly payload?: Json | undefined;
  /** The payload as JSON text, kept to the letter. It takes precedence. */
  readonly payloadJson?: string | undefined;
}

export interface SignalledRun {
  readonly run: Run;
  /** Whether the gateway had accepted this request before. */
  readonly isDuplicate: boolean;
  /** Whether the run keeps the signal, because no node waits for it yet. */
  readonly isKept: boolean;
}

export type SignalRun = (
  runId: string,
  name: string,
  options?: SignalOptions,
) => Promise<SignalledRun>;

export const createSignal =
  (rpc: Client<typeof RunService>, call: Caller): SignalRun =>
  async (runId, name, options = {}) => {
    const { payload, payloadJson, ...rest } = identified(options);
    const request = { ...rest, runId, name, payloadJson: bytesOf(payload, payloadJson) };
    const answer = await call(rpc.signalRun, request);
    return { ...startedOf(answer), isKept: answer.kept };
  };
