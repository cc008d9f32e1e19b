// Handlers of this executor. Built-in types use the same `defineHandler` as users. This file names the parts that only built-in types get:
// the variables of templates and scripts, config keys that hold another language, and instructions to the scheduler.

import type { NodeContext, Scope } from "@pawl/core/data/scope";
import type { Rendered } from "@pawl/core/data/template";
import type { Cause } from "@pawl/core/fault/cause";
import type { AskedSignal } from "@pawl/core/glue/glue";
import type { Context, Invocation } from "@pawl/core/handler/context";
import {
  type Executable,
  handlerDefiner,
  type Outcome,
  type Prepared as PreparedWith,
} from "@pawl/core/handler/define";
import { Failed, type FailedOptions } from "@pawl/core/handler/failure";
import { Directive, type Result } from "@pawl/core/handler/result";
import type { ToolCall } from "@pawl/core/log/event";

/** The values that only a handler inside an executor reads. */
interface TaskReads {
  /** Run input, parents' outputs, variables. */
  readonly context: NodeContext;
  /** The variables of templates and conditions: `ctx` and `input`. */
  readonly scope: Scope;
  /** The node's `input`, or the parameters that its edges bind. Unlike the input it is never the run's input. */
  readonly params: unknown;
  /** Keeps the task's lease for this long, even without renewals. It is for work that blocks the process. */
  readonly extend: (extendMs: number) => Promise<void>;
  /** The state of the run as JSON; empty unless the handler asks for it. */
  readonly stateJson: string;
  /** Renders templates in any JSON value. */
  readonly render: (value: unknown) => Rendered;
}

/** The context that a built-in handler gets besides its input. */
export type TaskContext<Config = unknown> = Context<Config> & TaskReads;

/** Everything that an executor gives a prepared handler. */
export type HandlerContext = Invocation & TaskReads;

export type HandlerResult = Outcome;
export type Prepared = PreparedWith<TaskReads>;

/** A handler of an executor: a built-in one, or one of a user. */
export interface Handler extends Pick<
  Executable<unknown, unknown, unknown, TaskReads>,
  "type" | "prepare"
> {
  /** Keys of the config that hold another language, so templates in them are not rendered. */
  readonly unrendered?: readonly string[];
}

/** `defineHandler` for handlers that read more than their input. */
export const defineHandler = handlerDefiner<TaskReads>();

/** The handler, with keys of its config that hold another language. */
export const withUnrendered = (unrendered: readonly string[], handler: Handler): Handler =>
  Object.assign(handler, { unrendered });

/** A map or a loop: the scheduler runs its body once for each item. */
export class Expansion extends Directive {
  override readonly directive = "expand";
  readonly items: readonly unknown[];
  /** There are more items than these. The node fails after the last one. */
  readonly cut: boolean;

  constructor(items: readonly unknown[], cut = false) {
    super();
    this.items = items;
    this.cut = cut;
  }
}

export interface ChildRunOptions {
  readonly workflowId: string;
  /** 0 means the newest. */
  readonly version: number;
  readonly input: unknown;
}

/** A run of another workflow. The node waits for it. */
export class ChildRun extends Directive {
  override readonly directive = "child";
  readonly options: ChildRunOptions;

  constructor(options: ChildRunOptions) {
    super();
    this.options = options;
  }
}

export interface QuestionOptions {
  readonly message: string;
  readonly details: unknown;
  readonly assignees: readonly string[];
  /** How long the question stays open. 0 means no limit. */
  readonly deadlineMs: number;
}

/** A question to a person. The node completes with the answer. */
export class Question extends Directive {
  override readonly directive = "ask";
  readonly options: QuestionOptions;

  constructor(options: QuestionOptions) {
    super();
    this.options = options;
  }
}

/** A turn of an agent: the answer of its model, and the tools that it calls. The scheduler runs them, and then the next turn. */
export class Turn extends Directive {
  override readonly directive = "turn";
  readonly answer: Result<unknown>;
  readonly calls: readonly ToolCall[];

  constructor(answer: Result<unknown>, calls: readonly ToolCall[]) {
    super();
    this.answer = answer;
    this.calls = calls;
  }
}

/** The node waits for a signal. It completes with the payload. */
export class AwaitedSignal extends Directive {
  override readonly directive = "await_signal";
  readonly asked: AskedSignal;

  constructor(asked: AskedSignal) {
    super();
    this.asked = asked;
  }
}

/** A failure that no retry can fix. */
export const failedForGood = (cause: Cause, message: string, options?: FailedOptions): Failed =>
  new Failed(cause, message, { ...options, permanent: true });
