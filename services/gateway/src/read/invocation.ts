// What the handler of a node got at its last start: input, config, memory, state and labels. The gateway folds the log up to that start, and makes both
// with the code of the executor. It only reads. The outcome may be a moment newer than the start, never older.

import { create } from "@bufbuild/protobuf";
import { handlerConfig, handlerInput, type InputNode } from "@pawl/core/data/handler-input";
import type { Binding } from "@pawl/core/data/inputs";
import { LIMITS } from "@pawl/core/data/limits";
import { isRecord } from "@pawl/core/data/path";
import type { NodeContext } from "@pawl/core/data/scope";
import { templatesOf } from "@pawl/core/data/template";
import { isBuiltIn } from "@pawl/core/definition/node-types";
import { handledFailure } from "@pawl/core/explain/settled";
import type { Cited } from "@pawl/core/explain/proofs";
import { EngineError } from "@pawl/core/fault/engine-error";
import { contextJson } from "@pawl/core/log/context";
import type { FactOf } from "@pawl/core/log/event";
import { handlerStateJson } from "@pawl/core/log/handler-state";
import { nodeJson } from "@pawl/core/log/node-json";
import {
  type ExecutionDefinition,
  executionAt,
  executionDefinition,
  partOf,
  presentIteration,
} from "@pawl/core/log/execution";
import { failureOf, reasonOf } from "@pawl/core/log/meaning";
import type { ExecutionState, RunState } from "@pawl/core/log/state";
import { effectKey } from "@pawl/core/name/ids";
import type { Taint } from "@pawl/core/policy/taint";
import type { Pool } from "@pawl/platform/db/pool";
import { type EffectResult, effectResults } from "@pawl/platform/store/effects/reads";
import { readEvents } from "@pawl/platform/store/log/reads";
import { toWireFailureClass, toWireNodeStatus } from "@pawl/platform/wire/enum";
import { toJsonBytes } from "@pawl/platform/wire/scalar";
import {
  type GetInvocationResponse,
  GetInvocationResponseSchema,
  InvocationEffectSchema,
} from "@pawl/proto/pawl/v1/run_service_pb";
import { nodeNotFound, type NodeQuestion } from "./explainer.ts";
import type { RunReader } from "./run-reader.ts";

/** The size of an answer without its JSON. */
const FRAME_BYTES = 64 * 1024;

/** Answers GetInvocation. @throws RUN_NOT_FOUND, NODE_NOT_FOUND, NODE_NOT_INVOKED, STORE_UNAVAILABLE */
export async function readInvocation(
  { pool, reader }: { readonly pool: Pool; readonly reader: RunReader },
  asked: NodeQuestion,
): Promise<GetInvocationResponse> {
  const { runId, nodeId } = asked;
  const { record, state, proofs } = await reader.foldRun(runId);
  const nodeIndex = state.graph.indexOf.get(nodeId);
  const iteration = presentIteration(state, nodeIndex ?? -1, asked.iteration);
  const question = { ...asked, iteration };
  const execution = nodeIndex === undefined ? undefined : executionAt(state, nodeIndex, iteration);
  if (nodeIndex === undefined || execution === undefined) throw nodeNotFound(question);
  const { type, timeoutMs } = executionDefinition(state, nodeIndex, iteration);
  if (isBuiltIn(type)) throw notInvoked(question, `Pawl itself runs nodes of the type ${type}.`);
  const started = proofs.newest(nodeId, iteration, "node.started");
  if (started === undefined) throw notInvoked(question, `It is ${execution.status}.`);
  const then = (await reader.foldRun(runId, started.seq)).state;
  const given = givenTo(then, nodeIndex, iteration);
  if (!given.ok) throw notInvoked(question, `It failed before: ${given.message}`);
  const ended = proofs.newest(nodeId, iteration, ...ENDS);
  // A map or a loop that has ended keeps no outputs of its iterations: the fold up to the end of the iteration has them.
  const output =
    iteration === 0 || ended === undefined
      ? execution.output
      : executionAt((await reader.foldRun(runId, ended.seq)).state, nodeIndex, iteration)?.output;
  const isOpen = ended === undefined || ended.seq < started.seq;
  const outcome = outcomeOf(execution.status, isOpen ? undefined : { ...ended, output });
  const wrote = proofs.newest(nodeId, iteration, "memory.updated");
  const writes = wrote !== undefined && wrote.seq > started.seq ? wrote.seq : undefined;
  const effects = await effectResults(pool, question);
  const workflowId = record.workflowId ?? "";
  const sent = {
    inputJson: toJsonBytes(given.inputJson),
    configJson: toJsonBytes(given.configJson),
    outputJson: toJsonBytes(outcome.outputJson),
    memoryJson: toJsonBytes(given.memoryJson),
    memoryWritesJson: toJsonBytes(await writtenBy(pool, runId, writes)),
  };
  const left = Object.values(sent).reduce(
    (room, { length }) => room - length,
    LIMITS.messageBytes - FRAME_BYTES,
  );
  const whole = toJsonBytes(handlerStateJson(then, { nodeIndex, iteration, workflowId }));
  const stateJson = whole.length <= left ? whole : NO_BYTES;
  return create(GetInvocationResponseSchema, {
    invocation: {
      ...outcome,
      ...{ type, ...sent, stateJson, workflowId },
      ...(isOpen ? {} : askedOf(ended)),
      attempt: executionAt(then, nodeIndex, iteration)?.attempt ?? 1,
      effectKey: effectKey(runId, nodeId, iteration),
      timeoutMs: BigInt(timeoutMs),
      taint: labelsOf(executionAt(then, nodeIndex, iteration)?.readTaint),
      traceparent: record.traceparent ?? "",
      effects: fitting(effects, left - stateJson.length),
    },
  });
}

/** What an outcome asked of the engine beside its output. */
function askedOf({ payload }: Cited) {
  const { queueDelayMs, goto, taint } = payload as Partial<FactOf<"node.completed">["payload"]>;
  return {
    queueDelayMs: BigInt(queueDelayMs ?? 0),
    gotoNode: goto?.nodeId ?? "",
    outputTaint: labelsOf(taint),
  };
}

const labelsOf = (taint: Taint = []): string[] => [...new Set(taint.map(({ label }) => label))];

/** What the event of this number wrote to the memory. */
async function writtenBy(
  pool: Pool,
  runId: NodeQuestion["runId"],
  seq: number | undefined,
): Promise<string | undefined> {
  if (seq === undefined) return undefined;
  const { events } = await readEvents(pool, runId, seq - 1, 1);
  return events[0]?.value;
}

const NO_BYTES = new Uint8Array(0);

/** The input and the config of an execution that starts in this state. */
function givenTo(state: RunState, nodeIndex: number, iteration: number) {
  // Core wrote both from a checked definition and from values that the scheduler checked.
  const part = partOf(state, nodeIndex, iteration);
  const { node, bindings } = JSON.parse(nodeJson(state.graph, nodeIndex, part)) as {
    readonly node: InputNode & ExecutionDefinition;
    readonly bindings: readonly Binding[];
  };
  const context = JSON.parse(contextJson(state, nodeIndex, iteration)) as NodeContext;
  const made = handlerInput(node, bindings, context);
  if (!made.ok) return made;
  const own = isRecord(node.config) ? node.config : {};
  const filled = handlerConfig(own, templatesOf(own), made);
  if (!filled.ok) return filled;
  const inputJson = JSON.stringify(made.input) ?? "null";
  const { memory } = context;
  const memoryJson = memory === undefined ? undefined : JSON.stringify(memory);
  return { ok: true as const, inputJson, memoryJson, configJson: JSON.stringify(filled.config) };
}

const ENDS = [
  "node.completed",
  "node.failed",
  "node.timed_out",
  "node.retried",
  "node.cancelled",
] as const;

/** How the execution ended: with an output, with a failure, or not yet. */
function outcomeOf(
  status: ExecutionState["status"],
  ended: (Cited & { readonly output: string | undefined }) | undefined,
) {
  const base = {
    ...{ status: toWireNodeStatus(status), outputJson: undefined },
    ...{ handle: "", cause: "", message: "", failureClass: toWireFailureClass(undefined) },
  };
  if (ended === undefined) return base;
  const { type, payload, output } = ended;
  if (type !== "node.completed") {
    const failureClass = toWireFailureClass(failureOf({ type, payload })?.failureClass);
    return { ...base, ...reasonOf({ type, payload }), failureClass };
  }
  const handle = typeof payload["handle"] === "string" ? payload["handle"] : "";
  return handle === "error"
    ? { ...base, handle, ...errorOf(output) }
    : { ...base, handle, outputJson: output };
}

/** The failure in the output of a node that left by the handle `error`. */
function errorOf(output: string | undefined) {
  const handled = handledFailure({ handle: "error", output });
  const { cause = "", message = "", failureClass } = handled ?? {};
  return { cause, message, failureClass: toWireFailureClass(failureClass) };
}

/** The effects. An effect's result is left out if the answer has no room for it. */
function fitting(effects: readonly EffectResult[], bytes: number) {
  let left = bytes;
  return effects.map(({ name, class: effectClass, isCommitted: committed, resultJson: text }) => {
    const resultJson = committed ? toJsonBytes(text ?? "null") : NO_BYTES;
    const fits = resultJson.length <= left;
    if (fits) left -= resultJson.length;
    const shown = fits ? resultJson : NO_BYTES;
    return create(InvocationEffectSchema, { name, effectClass, committed, resultJson: shown });
  });
}

const notInvoked = ({ runId, nodeId, iteration }: NodeQuestion, why: string): EngineError =>
  new EngineError("NODE_NOT_INVOKED", `No handler was invoked for the node ${nodeId}. ${why}`, {
    metadata: { run_id: runId, node_id: nodeId, iteration: String(iteration) },
  });
