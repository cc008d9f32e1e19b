// Signals to a run, and the waits that they end. Races. A signal comes before its node waits: the run keeps it, and the node takes it when
// it becomes ready. A signal and the deadline of a wait come together, or a signal and a cancel: the first in the log counts, and the other
// finds no wait. A client repeats a signal because it lost the answer: the fold knows its request id, and the repeat changes nothing. Two
// schedulers take the same signal: the version of the run lets one commit, and the other decides again.

import { LIMITS } from "../data/limits.ts";
import { utf8Bytes } from "../data/utf8.ts";
import { AWAIT_SIGNAL, awaitedSignals, payloadSchemaOf } from "../definition/signal-config.ts";
import type { JsonSchema } from "../definition/shape.ts";
import { isFinal, type Fact } from "../log/event.ts";
import { executionAt, executionDefinition } from "../log/execution.ts";
import { oldestSignal, oldestWait } from "../log/signal.ts";
import type { RunState } from "../log/state.ts";
import type { KeptSignal } from "../log/wait-state.ts";
import { durationOf, leadsBy, RUN_PLACE } from "./place.ts";
import { type Landing, type Outcome, outcomeFacts } from "./result.ts";
import { judgedOutcome } from "./until.ts";

/** The fault of a payload that does not fit its schema, for people. */
export type CheckPayload = (schema: JsonSchema, payload: unknown) => string | undefined;

export interface SignalArrival {
  readonly name: string;
  /** JSON text. */
  readonly payloadJson: string;
  /** Never empty: the gateway gives a call without a request id one. */
  readonly requestId: string;
  /** Of the name and the payload. */
  readonly digest: string;
  readonly now: number;
}

export type SignalResult =
  /** `isKept`: no execution waits for the signal yet, so the run keeps it. */
  | { readonly kind: "accepted"; readonly facts: Fact[]; readonly isKept: boolean }
  /** The same request came before. Nothing changes. */
  | { readonly kind: "repeated" }
  /** Another signal came under the same request id. */
  | { readonly kind: "reused" }
  | { readonly kind: "finished" }
  /** The run undoes its nodes before it ends. None of them waits any more. */
  | { readonly kind: "undoing" }
  /** No node of the definition waits for a signal of this name; it waits for the signals of these names. */
  | { readonly kind: "not_awaited"; readonly names: readonly string[] }
  | { readonly kind: "misfit"; readonly fault: string }
  | { readonly kind: "full"; readonly limit: "signals" | "signalsKept" | "signalsKeptBytes" };

/** The facts that follow from a signal. Changes nothing itself. */
export function onSignal(
  state: RunState,
  arrival: SignalArrival,
  check: CheckPayload,
): SignalResult {
  const { name, payloadJson, requestId, digest, now } = arrival;
  const known = state.signalDigests.get(requestId);
  if (known !== undefined) return { kind: known === digest ? "repeated" : "reused" };
  if (isFinal(state.status)) return { kind: "finished" };
  if (state.ending !== undefined) return { kind: "undoing" };
  const { named, hasTemplates } = awaitedSignals(state.graph);
  if (!named.has(name) && !hasTemplates) return { kind: "not_awaited", names: [...named.keys()] };
  const wait = oldestWait(state, name);
  const schemas =
    wait === undefined
      ? (named.get(name) ?? [undefined])
      : [payloadSchemaOf(executionDefinition(state, wait.nodeIndex, wait.iteration))];
  const fault = faultOf(schemas, payloadJson, check);
  if (fault !== undefined) return { kind: "misfit", fault };
  const limit = excessOf(state, payloadJson, wait !== undefined);
  if (limit !== undefined) return { kind: "full", limit };
  const signalled: Fact = {
    ...RUN_PLACE,
    type: "run.signalled",
    payload: { name, requestId, digest },
    value: payloadJson,
  };
  if (wait === undefined) return { kind: "accepted", facts: [signalled], isKept: true };
  const landing = { ...wait, epoch: 0, jitter: 1, now };
  const signal = { requestId, name, json: payloadJson, at: now };
  const facts = [signalled, ...takenFacts(state, landing, signal, check)];
  return { kind: "accepted", facts, isKept: false };
}

/** The fault of a payload that fits none of the schemas. A missing schema fits every payload. */
function faultOf(
  schemas: readonly (JsonSchema | undefined)[],
  json: string,
  check: CheckPayload,
): string | undefined {
  let first: string | undefined;
  for (const schema of schemas) {
    const fault = schema === undefined ? undefined : check(schema, JSON.parse(json));
    if (fault === undefined) return undefined;
    first ??= fault;
  }
  return first;
}

/** The limit that another signal would exceed. A signal that ends a wait at once is not kept. */
function excessOf(
  { signals, signalBytes, signalDigests }: RunState,
  json: string,
  isTaken: boolean,
) {
  if (signalDigests.size >= LIMITS.signals) return "signals";
  if (isTaken) return undefined;
  if (signals.size >= LIMITS.signalsKept) return "signalsKept";
  return signalBytes + utf8Bytes(json) > LIMITS.signalsKeptBytes ? "signalsKeptBytes" : undefined;
}

type Taken = Omit<KeptSignal, "bytes"> & { readonly requestId: string };

/** The end of an execution that takes a signal. */
function takenFacts(state: RunState, landing: Landing, signal: Taken, check: CheckPayload): Fact[] {
  const outcome = takenOutcome(state, landing, signal, check);
  return outcomeFacts(state, { ...landing, outcome }).map((fact): Fact =>
    fact.type === "node.completed" || fact.type === "node.failed"
      ? // The spread keeps the pairing of type and payload, which the union cannot see.
        ({ ...fact, payload: { ...fact.payload, signal: signal.requestId } } as Fact)
      : fact,
  );
}

function takenOutcome(
  state: RunState,
  { nodeIndex, iteration, now }: Landing,
  { name, json, at }: Taken,
  check: CheckPayload,
): Outcome {
  const durationMs = durationOf(executionAt(state, nodeIndex, iteration) ?? {}, now);
  const schema = payloadSchemaOf(executionDefinition(state, nodeIndex, iteration));
  const fault = faultOf([schema], json, check);
  if (fault !== undefined) {
    const message = `the payload of signal ${name}: ${fault}`;
    return {
      ...{ kind: "failed", cause: "input_contract_violation", message, permanent: true },
      durationMs,
    };
  }
  const outputJson = receivedJson(name, json, at);
  const received = { kind: "completed", outputJson, handle: "received", durationMs } as const;
  return judgedOutcome(state, { nodeIndex, iteration }, received);
}

/** The output of a wait. The payload is not changed. */
const receivedJson = (name: string, payloadJson: string, receivedAt: number | null): string =>
  `{"name":${JSON.stringify(name)},"payload":${payloadJson},"receivedAt":${receivedAt}}`;

/**
 * The facts of an outcome. An execution that waits for a signal takes the oldest kept one of that name at once. `taken` has the request ids
 * of the signals that facts of the same round take.
 */
export function arrivedFacts(
  state: RunState,
  arrival: Landing & { readonly outcome: Outcome },
  check: CheckPayload = () => undefined,
  taken?: Set<string>,
): Fact[] {
  const { outcome, nodeIndex, iteration } = arrival;
  if (outcome.kind !== "awaiting" || state.signals.size === 0) return outcomeFacts(state, arrival);
  const { type } = executionDefinition(state, nodeIndex, iteration);
  const kept = oldestSignal(state, outcome.name, taken ?? new Set());
  if (kept === undefined || type !== AWAIT_SIGNAL) return outcomeFacts(state, arrival);
  taken?.add(kept.requestId);
  return takenFacts(state, arrival, kept, check);
}

/** The facts of a wait whose deadline has passed by the clock of the caller. `stale` if the execution does not wait. */
export function onSignalDue(
  state: RunState,
  due: { readonly nodeIndex: number; readonly iteration: number; readonly now: number },
): { readonly kind: "stale" } | { readonly kind: "accepted"; readonly facts: Fact[] } {
  const { nodeIndex, iteration, now } = due;
  const execution = executionAt(state, nodeIndex, iteration);
  const wait = execution?.wait;
  if (execution === undefined || wait?.deadlineAt === undefined) return { kind: "stale" };
  const durationMs = durationOf(execution, now);
  const outcome: Outcome = leadsBy(state, nodeIndex, iteration, "timeout")
    ? {
        ...{ kind: "completed", handle: "timeout", durationMs },
        outputJson: receivedJson(wait.name, "null", null),
      }
    : {
        ...{ kind: "failed", cause: "signal_timeout", permanent: true, durationMs },
        message: `signal_timeout: signal ${wait.name} did not come in time`,
      };
  const landing = { nodeIndex, iteration, epoch: 0, jitter: 1, now };
  const judged = judgedOutcome(state, landing, outcome);
  return { kind: "accepted", facts: outcomeFacts(state, { ...landing, outcome: judged }) };
}
