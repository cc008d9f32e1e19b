// Moderation by a service of the operator. It gets POST {text | value, phase, runId, nodeId} and answers {findings: [{rule, category?,
// path?}]} or {flagged}. Time, tries and bytes are bounded. An unclear answer counts as no answer, and the executor then fails the node.

import { setTimeout as wait } from "node:timers/promises";
import { traceHeaders } from "@pawl/platform/telemetry/trace";
import { z } from "zod";
import {
  FINDINGS_MAX,
  STREAM_PATH,
  type Finding,
  type ModerationGateway,
  type ModerationSubject,
  type Unavailable,
  type Verdict,
} from "./moderation.ts";

const ANSWER_BYTES_MAX = 64 * 1024;
const PAUSE_MS = 100;

const text = (length: number) => z.string().transform((value) => value.slice(0, length));
const findingSchema = z.object({
  rule: text(64),
  category: text(64).default("unspecified"),
  path: text(512).optional(),
});
const answerSchema = z
  .object({ findings: z.array(findingSchema).optional(), flagged: z.boolean().optional() })
  .refine(({ findings, flagged }) => findings !== undefined || flagged !== undefined);

interface HttpGatewayOptions {
  readonly url: string;
  /** The time limit of one call. */
  readonly timeoutMs: number;
  /** How many calls follow the first one if the failure may pass. */
  readonly retries: number;
  /** A stream is checked in stretches of this size. Each stretch starts with as much of the text before it. */
  readonly windowChars: number;
}

/** Makes the gateway for an address. */
export function httpGateway(options: HttpGatewayOptions): ModerationGateway {
  const { windowChars } = options;
  return {
    contextChars: windowChars,
    stepChars: windowChars,
    check: (value, subject, signal) => ask(options, { value, ...subject }, signal, ""),
    checkStretch: async (stretch, subject, signal) => {
      const body = { text: stretch.text, ...subject };
      const verdict = await ask(options, body, signal, STREAM_PATH);
      if (!verdict.ok) return verdict;
      const { length } = stretch.text;
      return { ...verdict, clear: stretch.isLast ? length : length - windowChars };
    },
  };
}

async function ask(
  options: HttpGatewayOptions,
  body: ModerationSubject & { readonly text?: string; readonly value?: unknown },
  signal: AbortSignal,
  path: string,
): Promise<Verdict> {
  for (let tries = 0; ; tries++) {
    const answer = await askOnce(options, JSON.stringify(body), signal);
    if (answer.ok) return { ok: true, findings: findingsOf(answer.answer, path || body.phase) };
    if (!answer.mayPass || tries >= options.retries || signal.aborted) return answer;
    try {
      await wait(PAUSE_MS * 2 ** tries, undefined, { signal });
    } catch {
      return answer;
    }
  }
}

type Answer =
  | { readonly ok: true; readonly answer: z.output<typeof answerSchema> }
  | (Unavailable & { readonly mayPass: boolean });

async function askOnce(
  { url, timeoutMs }: HttpGatewayOptions,
  body: string,
  signal: AbortSignal,
): Promise<Answer> {
  try {
    const response = await fetch(url, {
      method: "POST",
      headers: { ...traceHeaders(), "content-type": "application/json" },
      body,
      redirect: "error",
      signal: AbortSignal.any([signal, AbortSignal.timeout(timeoutMs)]),
    });
    if (response.status !== 200) {
      await response.body?.cancel();
      const mayPass = response.status >= 500 || response.status === 429;
      return unavailable(`moderation answered ${response.status}`, mayPass);
    }
    const answered = await bounded(response);
    const parsed = answerSchema.safeParse(answered === undefined ? null : JSON.parse(answered));
    if (parsed.success) return { ok: true, answer: parsed.data };
    return unavailable("moderation answered something that is no verdict", false);
  } catch (error) {
    const name = error instanceof Error ? error.name : "error";
    // The error contains neither the address nor the sent text, because it enters the run's log.
    const isNonsense = error instanceof SyntaxError;
    return unavailable(`moderation could not be asked (${name})`, !isNonsense);
  }
}

/** The whole body, or undefined if it is too long. */
async function bounded(response: Response): Promise<string | undefined> {
  const parts: Uint8Array[] = [];
  let size = 0;
  for await (const part of response.body ?? []) {
    size += part.length;
    if (size > ANSWER_BYTES_MAX) return undefined;
    parts.push(part);
  }
  return Buffer.concat(parts).toString("utf8");
}

function findingsOf(
  { findings = [], flagged = false }: z.output<typeof answerSchema>,
  path: string,
): Finding[] {
  if (findings.length === 0)
    return flagged ? [{ rule: "http", category: "unspecified", path }] : [];
  return findings
    .slice(0, FINDINGS_MAX)
    .map(({ rule, category, path: own }) => ({ rule, category, path: own ?? path }));
}

const unavailable = (message: string, mayPass: boolean): Answer => ({
  ok: false,
  message,
  mayPass,
});
