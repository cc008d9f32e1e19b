// The messages between parent and sandbox child: one JSON object per line over stdio. Both sides treat a line as untrusted text with a
// length limit, so only plain data crosses.

import type { Cause } from "@pawl/core/fault/cause";

/** Parent → child: run this code. `ctx` and `input` are JSON text; only the isolate parses them. */
export interface SandboxRequest {
  readonly id: number;
  readonly code: string;
  readonly ctx: string;
  readonly input: string;
  readonly timeoutMs: number;
  readonly memoryMb: number;
  readonly resultBytesMax: number;
  readonly logBytesMax: number;
}

/** Why user code did not return a value. */
export type SandboxCause = Extract<
  Cause,
  "js_error" | "js_timeout" | "js_killed" | "output_too_large"
>;

/** How one run of user code ended; `json` is the returned value as JSON text. */
export type SandboxResult =
  | { readonly ok: true; readonly json: string }
  | { readonly ok: false; readonly cause: SandboxCause; readonly message: string };

/** Child → parent. */
export type SandboxReply =
  | { readonly kind: "ready" }
  | { readonly kind: "log"; readonly id: number; readonly level: string; readonly message: string }
  | { readonly kind: "result"; readonly id: number; readonly result: SandboxResult };

const CAUSES: ReadonlySet<string> = new Set([
  "js_error",
  "js_timeout",
  "js_killed",
  "output_too_large",
]);

/** Reads a line of the child and trusts nothing: a malformed line gives undefined, and the caller kills the child. */
export function parseReply(line: string): SandboxReply | undefined {
  let value: unknown;
  try {
    value = JSON.parse(line);
  } catch {
    return undefined;
  }
  if (!isRecord(value)) return undefined;
  const { kind, id, level, message } = value;
  if (kind === "ready") return { kind };
  if (typeof id !== "number") return undefined;
  if (kind === "log" && typeof level === "string" && typeof message === "string") {
    return { kind, id, level, message };
  }
  if (kind !== "result") return undefined;
  const result = parseResult(value["result"]);
  return result === undefined ? undefined : { kind, id, result };
}

function parseResult(value: unknown): SandboxResult | undefined {
  if (!isRecord(value)) return undefined;
  const { ok, json, cause, message } = value;
  if (ok === true && typeof json === "string") return { ok, json };
  if (ok !== false || typeof message !== "string" || !isCause(cause)) return undefined;
  return { ok, cause, message };
}

const isCause = (value: unknown): value is SandboxCause =>
  typeof value === "string" && CAUSES.has(value);

const isRecord = (value: unknown): value is Record<string, unknown> =>
  typeof value === "object" && value !== null;
