// The messages between parent and sandbox child: one JSON object per line over stdio. Both sides treat a line as untrusted text with a
// length limit, so they exchange only plain data.

import type { Cause } from "@pawl/core/fault/cause";
import { z } from "zod";

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
const CAUSES = [
  "js_error",
  "js_timeout",
  "js_killed",
  "output_too_large",
] as const satisfies Cause[];
export type SandboxCause = (typeof CAUSES)[number];

const resultSchema = z.discriminatedUnion("ok", [
  z.object({ ok: z.literal(true), json: z.string(), memoryJson: z.string().optional() }),
  z.object({ ok: z.literal(false), cause: z.enum(CAUSES), message: z.string() }),
]);
/** How one run of user code ended. `json` is the returned value as JSON text, and `memoryJson` an object of the keys that it remembers. */
export type SandboxResult = Readonly<z.output<typeof resultSchema>>;

const replySchema = z.discriminatedUnion("kind", [
  z.object({ kind: z.literal("ready") }),
  z.object({ kind: z.literal("log"), id: z.number(), level: z.string(), message: z.string() }),
  z.object({ kind: z.literal("result"), id: z.number(), result: resultSchema }),
]);
/** Child → parent. */
export type SandboxReply = z.output<typeof replySchema>;

/** Reads a line of the child and trusts nothing. A malformed line gives undefined, and the caller kills the child. */
export function parseReply(line: string): SandboxReply | undefined {
  try {
    return replySchema.safeParse(JSON.parse(line)).data;
  } catch {
    return undefined;
  }
}
