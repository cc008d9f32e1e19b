// One attempt of one node: read → resolve inputs → render config → handler under its timeout and abort signal → outcome.
// Race survived: the handler, its timeout and an abort from outside (cancel, lost claim, shutdown) may end it; the first one counts
// and the others find it ended. A handler that ignores its signal is left behind, and what it says later goes nowhere.

import { resolveInputs } from "@pawl/core/data/inputs";
import { scopeOf, type NodeContext } from "@pawl/core/data/scope";
import { render, type Rendered } from "@pawl/core/data/template";
import { probe } from "@pawl/platform/lifecycle/probe";
import type { Assignment } from "@pawl/proto/pawl/worker/v1/worker_service_pb";
import type { HandlerContext, Prepared } from "../handlers/handler.ts";
import type { Registry } from "../handlers/registry.ts";
import type { AttemptHooks, AttemptResult, RunAttempt } from "../work/assignments.ts";
import { failed, returned, thrown, type WireResult } from "./outcome.ts";
import { taskReader, type Task } from "./task.ts";

/** Makes the function that runs attempts with these handlers. It never rejects. */
export function attemptRunner(registry: Registry): RunAttempt {
  const read = taskReader(registry);
  return async (assignment, hooks) => {
    const startedAt = performance.now();
    const result = await runAttempt(assignment, hooks, read);
    const durationMs = BigInt(Math.round(performance.now() - startedAt));
    return { result, durationMs } satisfies AttemptResult;
  };
}

async function runAttempt(
  assignment: Assignment,
  hooks: AttemptHooks,
  read: (nodeJson: string) => Task,
): Promise<WireResult> {
  try {
    const task = read(decode(assignment.nodeJson));
    if (!task.ok) return failed(task.cause, task.message, { permanent: true });
    const timing = timed(Number(assignment.timeoutMs), hooks.signal);
    try {
      const made = handlerContext(assignment, hooks, { task, signal: timing.signal });
      if ("case" in made) return made;
      const prepared = task.prepared ?? renderedHandler(task, made);
      if ("case" in prepared) return prepared;
      if (!prepared.ok) return failed("CONFIG_INVALID", prepared.message, { permanent: true });
      probe("X2");
      const value = prepared.execute(made);
      if (!(value instanceof Promise)) return returned(value);
      return await Promise.race([value.then(returned, thrown), timing.ended()]).then((result) =>
        // A handler that gave up because of its signal ends as what the signal was for.
        timing.signal.aborted ? timing.verdict() : result,
      );
    } finally {
      timing.clear();
    }
  } catch (error) {
    return thrown(error);
  }
}

/** What the handler gets, or the failure that keeps it from running. */
function handlerContext(
  assignment: Assignment,
  hooks: AttemptHooks,
  { task, signal }: { readonly task: Extract<Task, { ok: true }>; readonly signal: AbortSignal },
): HandlerContext | WireResult {
  // Written by the scheduler from values that were checked when they entered the log.
  const context = JSON.parse(decode(assignment.contextJson)) as NodeContext;
  const { node, bindings } = task;
  const inputs = resolveInputs(bindings, context, node.merge, node.onParentFailure);
  if (!inputs.ok) return failed(inputs.reason, inputs.message, { permanent: true });
  const scope = scopeOf(context, inputs.params);
  const options = { substituteDefault: node.onParentFailure === "substitute_default" };
  const { claim } = assignment;
  return {
    runId: claim?.runId ?? "",
    nodeId: claim?.nodeId ?? "",
    iteration: claim?.iteration ?? 0,
    workflowId: assignment.workflowId,
    attempt: assignment.attempt,
    effectKey: assignment.effectKey,
    context,
    input: inputs.params,
    scope,
    signal,
    timeoutMs: Number(assignment.timeoutMs),
    emit: (text) => (signal.aborted ? Promise.resolve() : hooks.emit(text)),
    log: (level, message) => {
      if (!signal.aborted) hooks.log(level, message);
    },
    render: (value) => render(value, scope, options),
  };
}

function renderedHandler(
  task: Extract<Task, { ok: true }>,
  ctx: HandlerContext,
): Prepared | WireResult {
  const rendered: Rendered = ctx.render(task.templates);
  if (!rendered.ok) {
    const isMissing = rendered.reason === "MISSING_VARIABLE";
    const isKnown = isMissing || rendered.reason === "OUTPUT_TOO_LARGE";
    const cause = isKnown ? rendered.reason : "CONFIG_INVALID";
    const details = isMissing ? { path: rendered.path } : { reason: rendered.reason };
    return failed(cause, rendered.message, { permanent: true, details });
  }
  return task.handler.prepare(Object.assign({}, task.node.config, rendered.value));
}

/** One signal for timeout and outside abort, with a timer that costs nothing to a handler that answers at once. */
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
    verdict,
    /** Starts the clock; settles when the attempt is over for a reason of its own. */
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
