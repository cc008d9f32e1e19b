// The invocations of one session. Some wait for a stream, and some run. Of others the attempt is over, and the function has not returned.
// The effect of each item and each abort is in invocation-state.ts; this file applies it.
//
// Races. An answer and an abort cross: the first one that the host handles counts, and the other one is dropped. An item comes for an
// invocation that is over: it is dropped and counted. An invocation is aborted before a stream got it: the host takes it back.

import { LIMITS } from "@pawl/core/data/limits";
import { failure } from "@pawl/core/handler/failure";
import { METRICS } from "@pawl/platform/telemetry/catalogue";
import { currentTraceparent } from "@pawl/platform/telemetry/trace";
import { wireBytes } from "@pawl/platform/rpc/wire-bytes";
import type { ProcessItem } from "@pawl/proto/pawl/handler/v1/handler_service_pb";
import type { HandlerResult } from "../handlers/handler.ts";
import { failureOf, resultOf } from "./answers.ts";
import { cancelReasonOf } from "./cancel-reason.ts";
import { Invocation, revoked, type Call, type HostItemInit, type SendItem } from "./invocation.ts";
import { stepOf, type InvocationEvent, type Step } from "./invocation-state.ts";

type Item = ProcessItem["item"];
/** An item about an invocation. */
type AboutItem = Extract<Item, { value: { invocationId: string } }>;

const EVENTS: Readonly<Record<AboutItem["case"], InvocationEvent>> = {
  partial: "output",
  log: "output",
  spent: "output",
  effectBegin: "effect",
  effectCommit: "effect",
  result: "answer",
  failure: "answer",
  ended: "ended",
};

interface InvocationsOptions {
  readonly send: SendItem;
  /** Takes an item back that no stream got. */
  readonly withdraw: (item: HostItemInit) => void;
  /** Monotonic milliseconds. */
  readonly now: () => number;
  /** The number of invocations, or of cancelled ones, has changed. */
  readonly onChange: () => void;
}

export class Invocations {
  readonly #options: InvocationsOptions;
  readonly #table = new Map<string, Invocation>();
  #cancelled = 0;
  /** Items about invocations that were over already. */
  #lateItems = 0;

  constructor(options: InvocationsOptions) {
    this.#options = options;
  }

  /** Invocations that the process has or will get, with cancelled ones that have not returned. */
  get size(): number {
    return this.#table.size;
  }

  /** Cancelled invocations whose function has not returned. */
  get cancelled(): number {
    return this.#cancelled;
  }

  /** For people. */
  describe() {
    const now = this.#options.now();
    let ignoringMs = 0;
    for (const { state, cancelledAt } of this.#table.values())
      if (state === "cancelled") ignoringMs = Math.max(ignoringMs, now - cancelledAt);
    return {
      ...{ busy: this.size, ignoring: this.#cancelled },
      ignoringMs: BigInt(Math.round(ignoringMs)),
      lateItems: BigInt(this.#lateItems),
    };
  }

  /** How long a silent process keeps its work: as long as the most patient invocation, or `otherwise` without any. */
  stallMs(otherwise: number): number {
    let most = 0;
    for (const { state, call } of this.#table.values())
      if (state !== "cancelled") most = Math.max(most, call.stallMs);
    return most === 0 ? otherwise : most;
  }

  /** Runs a handler in the process. Settles with its answer, or when the attempt is aborted. */
  async invoke(call: Call): Promise<HandlerResult> {
    const { signal } = call.ctx;
    if (signal.aborted) return ABORTED;
    const invocation = new Invocation(call, this.#options.send);
    const item: HostItemInit = { item: { case: "invoke", value: invokeOf(invocation) } };
    const bytes = wireBytes(item);
    if (bytes > LIMITS.handlerItemBytes)
      return failure(
        "context_too_large",
        `the input and the config take ${bytes} bytes; at most ${LIMITS.handlerItemBytes} bytes fit into a message`,
        { permanent: true },
      );
    this.#table.set(invocation.id, invocation);
    const abort = (): void => this.#abort(invocation, item);
    signal.addEventListener("abort", abort, { once: true });
    this.#options.send(item, () => {
      invocation.state = stepOf(invocation.state, "written").next;
      call.onWritten();
    });
    this.#options.onChange();
    const result = await invocation.answer;
    signal.removeEventListener("abort", abort);
    return result;
  }

  /** Handles an item about an invocation. @throws LIMIT_EXCEEDED; the host has not taken the item then */
  take(item: AboutItem): void {
    const invocation = this.#table.get(item.value.invocationId);
    const step = stepOf(invocation?.state ?? "done", EVENTS[item.case]);
    if (invocation !== undefined && step.act === "pass") return this.#pass(invocation, item);
    if (step.act === "revoke" && item.case === "effectBegin")
      this.#options.send(revoked("effectBegun", item.value));
    if (step.act === "revoke" && item.case === "effectCommit")
      this.#options.send(revoked("effectCommitted", item.value));
    if (step.act === "late") this.#late();
    if (invocation === undefined) return;
    if (step.act === "settle") invocation.settle(answerOf(item));
    if (step.act === "broken") invocation.settle(NO_ANSWER);
    this.#move(invocation, step);
  }

  #pass(invocation: Invocation, item: AboutItem): void {
    switch (item.case) {
      case "partial":
        return invocation.partial(item.value);
      case "log":
        return invocation.log(item.value);
      case "spent":
        return invocation.spent(item.value);
      case "effectBegin":
        return invocation.effectBegin(item.value);
      case "effectCommit":
        return invocation.effectCommit(item.value);
      // The table passes output and effects only.
      case "result":
      case "failure":
      case "ended":
        return undefined;
      default:
        return item satisfies never;
    }
  }

  #abort(invocation: Invocation, invoke: HostItemInit): void {
    const step = stepOf(invocation.state, "abort");
    if (step.act === "withdraw") this.#options.withdraw(invoke);
    if (step.act === "cancel") {
      const reason = cancelReasonOf(invocation.call.ctx.signal.reason);
      const value = { invocationId: invocation.id, reason };
      this.#options.send({ item: { case: "cancel", value } });
    }
    invocation.settle(ABORTED);
    this.#move(invocation, step);
  }

  #move(invocation: Invocation, { next }: Step): void {
    if (next === invocation.state) return;
    if (invocation.state === "cancelled") this.#cancelled -= 1;
    if (next === "cancelled") {
      this.#cancelled += 1;
      invocation.cancelledAt = this.#options.now();
    }
    if (next === "done") this.#table.delete(invocation.id);
    invocation.state = next;
    this.#options.onChange();
  }

  #late(): void {
    this.#lateItems += 1;
    METRICS.handlerLateItems.add(1);
  }
}

/** The attempt has its own verdict by then; it drops this one. */
const ABORTED = failure("cancelled", "the attempt was aborted");
const NO_ANSWER = failure("contract_violated", "the process ended the handler without an answer");

const answerOf = (item: AboutItem): HandlerResult =>
  item.case === "failure"
    ? failureOf(item.value)
    : item.case === "result"
      ? resultOf(item.value)
      : NO_ANSWER;

function invokeOf({ id, call }: Invocation) {
  const { ctx, type, configJson } = call;
  const { attempt, effectKey, runId, nodeId, iteration, workflowId } = ctx;
  return {
    ...{ type, configJson, attempt, effectKey, runId, nodeId, iteration, workflowId },
    invocationId: id,
    inputJson: JSON.stringify(ctx.input) ?? "null",
    ...(Object.keys(ctx.memory).length === 0 ? {} : { memoryJson: JSON.stringify(ctx.memory) }),
    ...(ctx.taint.length === 0 ? {} : { taint: [...ctx.taint] }),
    ...(ctx.stateJson === "" ? {} : { stateJson: ctx.stateJson }),
    timeoutMs: BigInt(ctx.timeoutMs),
    // The span of the handler, if this executor traces.
    traceparent: currentTraceparent() || ctx.traceparent,
  };
}
