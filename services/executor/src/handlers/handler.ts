// The contract of a node handler: a type, a schema for its config after templates are rendered, and a function.
// A handler returns a failure with a cause for problems it expects; the executor reports a throw as provider_error.

import type { NodeContext, Scope } from "@pawl/core/data/scope";
import type { Cause } from "@pawl/core/fault/cause";
import type { Media, Usage } from "@pawl/core/log/event";
import type { Rendered } from "@pawl/core/data/template";
import { issueText } from "@pawl/core/definition/zod-issue";
import { z } from "zod";
import type { Effects } from "./effects.ts";

export const LOG_LEVELS = ["debug", "info", "warn", "error"] as const;
export type LogLevel = (typeof LOG_LEVELS)[number];

/** What a handler gets besides its config. */
export interface HandlerContext {
  readonly runId: string;
  readonly nodeId: string;
  /** Empty for a test run. */
  readonly workflowId: string;
  readonly iteration: number;
  /** From 1. */
  readonly attempt: number;
  /** The same for every attempt: send it to receivers as their idempotency key. */
  readonly effectKey: string;
  /** Run input, parents' outputs, variables. */
  readonly context: NodeContext;
  /** The node's own parameters, resolved from its edges. */
  readonly input: Readonly<Record<string, unknown>>;
  /** The variables of templates and conditions: `ctx` and `input`. */
  readonly scope: Scope;
  /** Aborted on timeout, cancellation or a lost claim; the handler must then end soon. */
  readonly signal: AbortSignal;
  /** The whole time limit of the attempt. */
  readonly timeoutMs: number;
  /** Streams partial output; the promise settles when the handler may send more. */
  readonly emit: (text: string) => Promise<void>;
  /** Streams a picture or another file, in order with the text. */
  readonly emitMedia: (media: Media) => Promise<void>;
  readonly log: (level: LogLevel, message: string) => void;
  /** Records the node's effects on the outside world for later attempts (`once` in effects.ts covers most needs). */
  readonly effects: Effects;
  /** Keeps the task's lease for this long even without renewals: for work that blocks the process. */
  readonly extend: (extendMs: number) => Promise<void>;
  /** Renders templates in any JSON value. */
  readonly render: (value: unknown) => Rendered;
}

export interface HandlerSuccess {
  readonly output: unknown;
  /** The handle by which the node is left. */
  readonly handle?: string;
  /** How long the nodes that follow wait. */
  readonly queueDelayMs?: number;
  /** The tokens that a model counted. */
  readonly usage?: Usage;
}

/** A map or a loop: the scheduler runs its body once for each item. */
export interface HandlerExpansion {
  readonly expand: {
    readonly items: readonly unknown[];
    /** More items would follow; the node fails if these run out. */
    readonly cut?: boolean;
  };
}

/** A run of another workflow; the node waits for it. */
export interface HandlerChildRun {
  readonly child: {
    readonly workflowId: string;
    /** 0 means the newest. */
    readonly version: number;
    readonly input: unknown;
  };
}

/** A question to a person; the node completes with the answer. */
export interface HandlerQuestion {
  readonly ask: {
    readonly message: string;
    readonly details: unknown;
    readonly assignees: readonly string[];
    /** How long the question stays open; 0 means no limit. */
    readonly deadlineMs: number;
  };
}

export interface HandlerFailure {
  readonly failed: {
    /** A `Cause` of Pawl's own, or one of the handler's own, best with a dot in it (`acme.card_declined`). */
    readonly cause: string;
    readonly message: string;
    /** Never retry, whatever the policy allows. */
    readonly permanent: boolean;
    readonly details?: unknown;
    /** How long the provider asked to wait before the next call. */
    readonly retryAfterMs?: number;
    /** With the cause timeout: the limit that passed, if it is the handler's own and not the node's. */
    readonly timeoutMs?: number;
  };
}

export type HandlerResult =
  | HandlerSuccess
  | HandlerExpansion
  | HandlerChildRun
  | HandlerQuestion
  | HandlerFailure;

/** A handler with an accepted config, ready to run. */
export type Prepared =
  | {
      readonly ok: true;
      readonly execute: (ctx: HandlerContext) => HandlerResult | Promise<HandlerResult>;
    }
  | { readonly ok: false; readonly message: string };

export interface Handler {
  readonly type: string;
  /** Keys of the config that hold another language, so templates in them are not rendered. */
  readonly unrendered: readonly string[];
  /** Checks a rendered config and binds it to the handler. */
  readonly prepare: (config: unknown) => Prepared;
}

/** Makes a handler. */
export function defineHandler<Config>(definition: {
  readonly type: string;
  readonly config: z.ZodType<Config>;
  readonly unrendered?: readonly string[];
  readonly execute: (config: Config, ctx: HandlerContext) => HandlerResult | Promise<HandlerResult>;
}): Handler {
  return {
    type: definition.type,
    unrendered: definition.unrendered ?? [],
    prepare: (raw) => {
      const parsed = definition.config.safeParse(raw);
      if (!parsed.success) return { ok: false, message: issueText(parsed.error) };
      const config = parsed.data;
      return { ok: true, execute: (ctx) => definition.execute(config, ctx) };
    },
  };
}

/** A failure that no retry can fix. */
export const permanentFailure = (
  cause: Cause,
  message: string,
  details?: unknown,
): HandlerFailure => ({
  failed: { cause, message, permanent: true, ...(details === undefined ? {} : { details }) },
});

/** A failure that the retry policy judges. */
export const failure = (cause: Cause, message: string, details?: unknown): HandlerFailure => ({
  failed: { cause, message, permanent: false, ...(details === undefined ? {} : { details }) },
});

/** A limit of the handler's own has passed. */
export const timeoutFailure = (timeoutMs: number, message: string): HandlerFailure => ({
  failed: { cause: "timeout", message, permanent: false, timeoutMs },
});

/** A failure that may pass, but not before the time that the provider named. */
export const failureUntil = (
  retryAfterMs: number | undefined,
  { failed }: HandlerFailure,
): HandlerFailure => ({
  failed: retryAfterMs === undefined ? failed : { ...failed, retryAfterMs },
});
