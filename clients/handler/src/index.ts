// The public surface of @pawl/handler: define a handler, test it, serve it, and build workflows from handlers.

// oxlint-disable-next-line import/no-unassigned-import -- it must run before the other modules load
import "./node-version.ts";
export type {
  Asks,
  HandOff,
  HumanAnswer,
  HumanQuestion,
  MergeResults,
  SetStatus,
} from "@pawl/core/handler/acts";
export type { Context, Once, OnceOptions } from "@pawl/core/handler/context";
export { defineHandler, type Handler, type HandlerDefinition } from "@pawl/core/handler/define";
export { Cancelled, Failed, type FailedOptions } from "@pawl/core/handler/failure";
export { result, type Result, type ResultFacts } from "@pawl/core/handler/result";
export type { LogLevel } from "@pawl/core/handler/served";
export type { HandlerState } from "@pawl/core/handler/state";
export type { StandardSchema } from "@pawl/core/handler/standard-schema";
export type { EffectClass } from "@pawl/core/policy/effect";
export type {
  Finding,
  ModerationGateway,
  ModerationSubject,
  Roots,
  Stretch,
  StretchVerdict,
  Verdict,
} from "@pawl/executor/checks/moderation";
export {
  type ExecutorOptions,
  type RefusedType,
  type RunningExecutor,
  startExecutor,
} from "@pawl/executor/start-executor";
export { flow, type Flow, type FlowOptions, type NodeOptions } from "./flow/flow.ts";
export { expression, type Argument, type Ref, template, text } from "./flow/ref.ts";
export { type Asked, BEGUN, type Ran, runHandler, type RunOptions } from "./run-handler.ts";
export { CancelledBy, type CancelWord } from "./serve/cancelled.ts";
export {
  serve,
  type ServeOptions,
  type Serving,
  startServing,
  type Status,
} from "./serve/serve.ts";
