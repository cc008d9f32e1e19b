// A handler as the code that serves it sees it: texts go in, texts come out. An executor and a handler process both run handlers through
// this interface, so a handler behaves the same in both.

import type { Action } from "../action/kinds.ts";
import type { Media, Usage } from "../log/event.ts";
import type { HandlerState } from "./state.ts";
import type { EffectClass, EffectStanding } from "../policy/effect.ts";

export const LOG_LEVELS = ["debug", "info", "warn", "error"] as const;
export type LogLevel = (typeof LOG_LEVELS)[number];

/** JSON Schemas (2020-12) of a handler as JSON text; "" means any value. */
export interface HandlerSchemas {
  readonly input: string;
  readonly output: string;
  readonly config: string;
  /** A sentence for each schema that has no JSON form or is too large to publish. */
  readonly faults: readonly string[];
}

/** The effect ledger of one invocation. */
export interface EffectDoor {
  /** Enters an effect. Rejects with `Cancelled` if the invocation was cancelled or its claim is lost: then the handler makes no effect. */
  begin(name: string, effectClass: EffectClass): Promise<EffectStanding>;
  /** `resultJson` is JSON text of at most 256 KiB. The caller need not wait: it is sent before the outcome. */
  commit(name: string, resultJson: string): Promise<void>;
}

/** The facts that every invocation has. */
export interface CallFacts {
  readonly runId: string;
  readonly nodeId: string;
  /** Empty for a test run. */
  readonly workflowId: string;
  /** Which execution of the node; 0 outside of a map or loop. */
  readonly iteration: number;
  /** From 1. */
  readonly attempt: number;
  /** The same for every attempt and delivery: send it to receivers as their idempotency key. */
  readonly effectKey: string;
  /** W3C traceparent of the attempt, for calls to other services; empty without tracing. */
  readonly traceparent: string;
  /** The whole time limit of the attempt. */
  readonly timeoutMs: number;
  /** The keys of the run's memory that the node reads. */
  readonly memory: Readonly<Record<string, unknown>>;
  /** The labels of the data that the handler gets, such as `web`; empty if it is trusted. Its output gets them too. */
  readonly taint: readonly string[];
  /** The state of the run, if the handler asks for it. */
  readonly state?: HandlerState;
  /** Aborted on timeout, cancellation or a lost claim; the handler must then end soon. */
  readonly signal: AbortSignal;
  /** Streams partial output; the promise settles when the handler may send more. */
  readonly emit: (text: string) => Promise<void>;
  /** Streams a picture or another file, in order with the text. */
  readonly emitMedia: (media: Media) => Promise<void>;
  readonly log: (level: LogLevel, message: string) => void;
  /** Adds what the handler used since its last report. It counts however the attempt ends, also if it fails or takes too long. */
  readonly usage: (usage: Usage) => void;
}

/** One invocation of a handler. */
export interface Call extends CallFacts {
  /** The input as JSON; "" means null. */
  readonly inputJson: string;
  /** The config as JSON, with its templates filled in; "" means {}. */
  readonly configJson: string;
  readonly effects: EffectDoor;
  /** How large the output may be, in bytes of UTF-8; LIMITS.valueBytes unless given. */
  readonly outputBytes?: number;
}

/** Success. */
export interface SettledResult {
  readonly outputJson: string;
  /** The handle to leave by; "" means none. */
  readonly handle: string;
  /** What the handler used, and has not reported by `usage` of its context. */
  readonly usage?: Usage;
  /** The nodes that follow wait this long. */
  readonly queueDelayMs: number;
  /** What the handler asks of the engine beside its output. */
  readonly actions?: readonly Action[];
  /** Labels that the handler adds. */
  readonly taint?: readonly string[];
}

/** Failure. */
export interface SettledFailure {
  /** A cause of Pawl's own, or one of the handler's own with a dot in it. */
  readonly cause: string;
  readonly message: string;
  /** Do not retry, even if the policy allows it. */
  readonly permanent: boolean;
  /** A retry waits at least this long; 0 means no wish. */
  readonly retryAfterMs: number;
  /** With the cause timeout: the limit that passed, if it is the handler's own and not the node's; 0 means none. */
  readonly timeoutMs: number;
  /** JSON details; "" means none. */
  readonly detailsJson: string;
}

/** How an invocation ended. */
export type Settled = { readonly result: SettledResult } | { readonly failure: SettledFailure };

/** A handler that can be served. */
export interface ServedHandler {
  /** The node type: a name with an optional version, such as acme.charge@1. */
  readonly type: string;
  /** For people; may be empty. */
  readonly description: string;
  /** How long a silent process keeps invocations of this handler; 0 means the default of the host. */
  readonly stallMs: number;
  /** Whether its outputs are data from outside, which get the label `external`. */
  readonly external: boolean;
  /** Whether the handler reads the state of the run. */
  readonly wantsState: boolean;
  readonly schemas: HandlerSchemas;
  /** Runs the handler once: parses, checks, runs, checks and encodes. Never rejects. */
  readonly invoke: (call: Call) => Promise<Settled>;
}
