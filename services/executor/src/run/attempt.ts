// One attempt of one node: read → resolve inputs → input contract → input moderation → handler with its timeout and abort signal → output
// moderation → output contract → outcome, with the findings of the checks.
//
// Race: the handler, its timeout and an abort from outside (cancel, lost claim, shutdown) may each end the attempt. The first one counts.
// The executor drops later results. A handler that the timeout or moderation ended has a short moment for its last report of usage. The
// executor does not wait longer for a handler that ignores its signal.

import { setTimeout as wait } from "node:timers/promises";
import { LIMITS } from "@pawl/core/data/limits";
import { handlerConfig, handlerInput, type InputFailure } from "@pawl/core/data/handler-input";
import type { NodeContext } from "@pawl/core/data/scope";
import { readHandlerState } from "@pawl/core/handler/state";
import { probe } from "@pawl/platform/lifecycle/probe";
import { currentTraceparent } from "@pawl/platform/telemetry/trace";
import type { Assignment } from "@pawl/proto/pawl/worker/v1/worker_service_pb";
import type { ModerationGateway, Roots } from "../checks/moderation.ts";
import type { HandlerContext, HandlerResult, Prepared } from "../handlers/handler.ts";
import type { Registry } from "../handlers/registry.ts";
import type { AttemptHooks, AttemptResult, RunAttempt } from "./run-attempt.ts";
import { inputContractCheck, outputContractCheck, type Ended } from "./contract-check.ts";
import { failed, judged, returned, thrown, type WireResult } from "./outcome.ts";
import type { Priced } from "../llm/prices.ts";
import { namesValues, resolved, stored, type StoredValues } from "./stored-values.ts";
import { ModerationCheck } from "./moderation-check.ts";
import { Tally } from "./tally.ts";
import { taskReader, type Task } from "./task.ts";

/** Makes the function that runs attempts with these handlers. It never rejects. */
export function attemptRunner(
  registry: Registry,
  moderation?: ModerationGateway,
  price: Priced = (usage) => usage,
  values?: StoredValues,
): RunAttempt {
  const read = taskReader(registry);
  return async (assignment, hooks) => {
    const startedAt = performance.now();
    const tally = new Tally(price);
    const given = await runAttempt(assignment, hooks, { read, moderation, tally, values });
    const { claim, nodeType } = assignment;
    const result = await stored(values, { claim, nodeType, signal: hooks.signal }, given.result);
    const ended = result === given.result ? given : { ...given, result };
    const durationMs = BigInt(Math.round(performance.now() - startedAt));
    return { ...ended, durationMs, ...tally.usage } satisfies AttemptResult;
  };
}

async function runAttempt(
  assignment: Assignment,
  hooks: AttemptHooks,
  { read, moderation, tally, values }: AttemptParts,
): Promise<Ended> {
  try {
    const task = read(decode(assignment.nodeJson));
    if (!task.ok) return { result: failed(task.cause, task.message, { permanent: true }) };
    const timing = timed(Number(assignment.timeoutMs), hooks.signal);
    try {
      const { moderation: asked = "none", moderationAction: action = "block" } = task.node;
      if (asked !== "none" && moderation === undefined) return { result: NO_MODERATION };
      const check =
        asked !== "none" && moderation !== undefined
          ? new ModerationCheck({
              ...{ gateway: moderation, moderation: asked, action, hooks, stop: timing.stop },
              ...idsOf(assignment),
            })
          : undefined;
      const checkedHooks = check?.hooks() ?? hooks;
      const texts = textsOf(assignment);
      const whole = namesValues(texts.context, texts.state)
        ? await resolved(values, { claim: assignment.claim, signal: hooks.signal }, texts)
        : texts;
      if ("case" in whole) return { result: whole };
      const made = handlerContext(assignment, checkedHooks, {
        ...{ task, tally, texts: whole, signal: timing.signal },
      });
      if ("case" in made) return { result: made };
      const refused =
        inputContractCheck(task.contracts.input, made.input) ??
        (assignment.inputApproved ? undefined : await check?.input(moderatedInput(task, made)));
      if (refused !== undefined) return refused;
      const accepted = (result: WireResult) => outputContractCheck(task.contracts.output, result);
      const result = tally.take(await handled(task, made, timing));
      return check === undefined ? accepted(result) : await check.output(result, accepted);
    } finally {
      timing.clear();
    }
  } catch (error) {
    return { result: thrown(error) };
  }
}

interface AttemptParts {
  readonly read: (nodeJson: string) => Task;
  readonly moderation: ModerationGateway | undefined;
  readonly tally: Tally;
  readonly values: StoredValues | undefined;
}

interface Texts {
  readonly context: string;
  readonly state: string;
}

/** The JSON texts of an assignment that hold values of users. */
const textsOf = ({ contextJson, stateJson }: Assignment): Texts => ({
  context: decode(contextJson),
  state: stateJson.length === 0 ? "" : decode(stateJson),
});

const idsOf = ({ claim }: Assignment) => {
  const { runId = "", nodeId = "", iteration = 0 } = claim ?? {};
  return { runId, nodeId, iteration };
};

/** A node that asks for moderation does not run on an executor without it. */
const NO_MODERATION = failed(
  "moderation_unavailable",
  "this executor has no moderation configured",
);

/** The foreign data that reaches the handler: its input, its item, and the parts of its config that templates filled. */
function moderatedInput(task: ReadTask, made: HandlerContext): Roots {
  const rendered = made.render(task.templates);
  const { item = null, index, previous = null } = made.context;
  const own = index === undefined ? {} : { item, previous };
  return { input: made.input, ...own, config: rendered.ok ? rendered.value : null };
}

type ReadTask = Extract<Task, { ok: true }>;

/** Runs the handler. A handler that answers synchronously gives a synchronous result. */
function handled(
  task: ReadTask,
  made: HandlerContext,
  timing: ReturnType<typeof timed>,
): WireResult | Promise<WireResult> {
  const prepared = task.prepared ?? renderedHandler(task, made);
  if ("case" in prepared) return prepared;
  if (!prepared.ok) return failed("config_invalid", prepared.message, { permanent: true });
  probe("handler.before-run");
  const value = prepared.execute(made);
  const ended = (given: HandlerResult): WireResult =>
    judged(task.until, made.scope, returned(given));
  if (!(value instanceof Promise)) return ended(value);
  const settled = value.then(ended, thrown);
  return Promise.race([settled, timing.ended()]).then((result) =>
    // A handler that stopped because of its signal ends with the signal's reason.
    timing.signal.aborted ? timing.verdictAfter(settled) : result,
  );
}

/** The handler's context, or the failure that prevents the handler from running. */
function handlerContext(
  assignment: Assignment,
  hooks: AttemptHooks,
  {
    task,
    signal,
    tally,
    texts,
  }: {
    readonly task: ReadTask;
    readonly signal: AbortSignal;
    readonly tally: Tally;
    readonly texts: Texts;
  },
): HandlerContext | WireResult {
  // The scheduler wrote the text from values that it checked before they entered the log.
  const context = JSON.parse(texts.context) as NodeContext;
  const made = handlerInput(task.node, task.bindings, context);
  if (!made.ok) return notReady(made);
  const { input, params, scope, render } = made;
  const { workflowId, attempt, effectKey } = assignment;
  return {
    ...{ ...idsOf(assignment), workflowId, attempt, effectKey },
    context,
    ...{ input, params, scope, render },
    memory: context.memory ?? {},
    taint: [...new Set(assignment.taint.map(({ label }) => label))],
    ...stateOf(texts.state),
    signal,
    // Without telemetry of its own the executor passes the scheduler's trace on.
    traceparent: currentTraceparent() || assignment.traceparent,
    timeoutMs: Number(assignment.timeoutMs),
    emit: (text) => (signal.aborted ? Promise.resolve() : hooks.emit(text)),
    emitMedia: (media) => (signal.aborted ? Promise.resolve() : hooks.emitMedia(media)),
    log: (level, message) => {
      if (!signal.aborted) hooks.log(level, message);
    },
    // A report after the signal counts too: the handler used it before.
    usage: (usage) => tally.add(usage),
    effects: hooks.effects,
    extend: (extendMs) => hooks.extend(extendMs),
  };
}

/** The state of the run, for handlers that ask for it: a host sends the text on, and a handler of this process reads the value. */
function stateOf(text: string): Pick<HandlerContext, "state" | "stateJson"> {
  return text === "" ? { stateJson: "" } : { stateJson: text, state: readHandlerState(text) };
}

const notReady = ({ cause, message, details }: InputFailure): WireResult =>
  failed(cause, message, { permanent: true, ...(details === undefined ? {} : { details }) });

function renderedHandler(task: ReadTask, ctx: HandlerContext): Prepared | WireResult {
  const rendered = handlerConfig(task.node.config, task.templates, ctx);
  return rendered.ok ? task.handler.prepare(rendered.config) : notReady(rendered);
}

/** One signal for timeout and outside abort. Its timer starts only if the handler does not answer at once. */
function timed(timeoutMs: number, outside: AbortSignal) {
  const controller = new AbortController();
  const { signal } = controller;
  const abort = (): void => controller.abort(outside.reason);
  if (outside.aborted) abort();
  else outside.addEventListener("abort", abort, { once: true });
  let timer: NodeJS.Timeout | undefined;
  const verdict = (): WireResult =>
    outside.aborted
      ? failed("cancelled", "the attempt was aborted")
      : failed("timeout", `the handler took longer than ${timeoutMs} ms`);
  return {
    signal,
    /** The verdict, once the handler has settled and reported what it used. An abort from outside is not delayed. */
    verdictAfter: async (handler: Promise<unknown>): Promise<WireResult> => {
      const moment = wait(LIMITS.lateUsageMs, undefined, { signal: outside, ref: false });
      await Promise.race([handler, moment.catch(() => undefined)]);
      return verdict();
    },
    /** Ends the handler, because the attempt does not need it any more. */
    stop: (): void => controller.abort(new DOMException("moderation", "AbortError")),
    /** Starts the clock. The promise settles when a timeout or an abort ends the attempt. */
    ended: (): Promise<WireResult> =>
      new Promise((resolve) => {
        const end = (): void => resolve(verdict());
        if (signal.aborted) return end();
        signal.addEventListener("abort", end, { once: true });
        if (timeoutMs <= 0) return undefined;
        const onTimeout = (): void => controller.abort(new DOMException("timeout", "TimeoutError"));
        timer = setTimeout(onTimeout, timeoutMs);
        return undefined;
      }),
    clear: (): void => {
      clearTimeout(timer);
      outside.removeEventListener("abort", abort);
    },
  };
}

const decode = (bytes: Uint8Array): string =>
  Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString("utf8");
