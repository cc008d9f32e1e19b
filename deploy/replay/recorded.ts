// The recorded invocation, as the gateway gives it.
import { nodeStatusName } from "@pawl/client";
import type { Invocation } from "@pawl/proto/pawl/v1/run_service_pb";
import { askedOnRecord } from "./asked.ts";
import type { Ending } from "./verdict.ts";

export type { Invocation };

/** The JSON text of bytes. Empty for none. */
export const jsonTextOf = (bytes: Uint8Array = new Uint8Array()): string =>
  Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString("utf8");

/** How the recorded invocation ended. */
export function recordedEnding(recorded: Invocation): Ending {
  const { status, outputJson, handle, cause, message } = recorded;
  if (cause !== "" || message !== "") return { kind: "failed", cause, message };
  if (outputJson.length === 0) return { kind: "open", status: nodeStatusName(status) };
  const asked = askedOnRecord(recorded);
  return { kind: "returned", outputJson: jsonTextOf(outputJson), handle, asked };
}
