// The input and the config that the handler of a node got at its last start. The gateway folds the log up to that start, and makes both
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
import type { Pool } from "@pawl/platform/db/pool";
import { type EffectResult, effectResults } from "@pawl/platform/store/effects/reads";
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
  const effects = await effectResults(pool, question);
  const sent = [given.inputJson, given.configJson, outcome.outputJson].map(toJsonBytes);
  const [inputJson = NO_BYTES, configJson = NO_BYTES, outputJson = NO_BYTES] = sent;
  const left = sent.reduce((room, { length }) => room - length, LIMITS.messageBytes - FRAME_BYTES);
  return create(GetInvocationResponseSchema, {
    invocation: {
      ...outcome,
      ...{ type, inputJson, configJson, outputJson },
      attempt: executionAt(then, nodeIndex, iteration)?.attempt ?? 1,
      effectKey: effectKey(runId, nodeId, iteration),
      timeoutMs: BigInt(timeoutMs),
      workflowId: record.workflowId ?? "",
      effects: fitting(effects, left),
    },
  });
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
  return { ok: true as const, inputJson, configJson: JSON.stringify(filled.config) };
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
