// Assistants as clients see them, and the requests about them.

import { create } from "@bufbuild/protobuf";
import { LIMITS } from "@pawl/core/data/limits";
import { isRecord } from "@pawl/core/data/path";
import { exceedsUtf8 } from "@pawl/core/data/utf8";
import { EngineError, invalidField } from "@pawl/core/fault/engine-error";
import type { RunPayloads } from "@pawl/core/log/run-events";
import {
  AssistantSchema,
  type Assistant as WireAssistant,
  type AssistantSpec as WireSpec,
  type StartDefaults as WireDefaults,
} from "@pawl/proto/pawl/v1/assistant_pb";
import type {
  CreateAssistantRequest,
  DeleteAssistantRequest,
  ListAssistantsRequest,
  UpdateAssistantRequest,
} from "@pawl/proto/pawl/v1/assistant_service_pb";
import type { StartRunRequest } from "@pawl/proto/pawl/v1/run_service_pb";
import type {
  AssistantFilter,
  AssistantRecord,
  AssistantSpec,
  StartDefaults,
} from "../store/assistants/assistants.ts";
import { askedOf } from "./asked.ts";
import { budgetOf, toWireAskedBudget } from "./budget.ts";
import { jsonOf, nameOf, optionalName, requestIdOf, valueOf } from "./fields.ts";
import { inFieldOf } from "./in-field.ts";
import { metadataOf } from "./metadata.ts";
import { toJsonBytes, toTimestamp } from "./scalar.ts";
import { strategyOf, toWireRelease, toWireStrategy, yieldsOf } from "./thread.ts";

/** The thread and the assistant of a run, as its first event shows them. */
export const toWireLinks = ({
  thread,
  assistant,
}: Pick<RunPayloads["run.started"], "thread" | "assistant">) => ({
  threadId: thread?.threadId ?? "",
  threadPosition: BigInt(thread?.position ?? 0),
  yieldsThread: thread?.yields ?? false,
  assistantId: assistant?.assistantId ?? "",
  assistantVersion: assistant?.version ?? 0,
  configJson: toJsonBytes(assistant?.config),
});

/** What a start is of: a workflow, an assistant, or the assistant of its thread. @throws INPUT_INVALID */
export function startedOf({ workflowId, version, assistantId, threadId }: StartRunRequest) {
  if (assistantId === "" && (workflowId !== "" || threadId === ""))
    return { workflowId: nameOf("workflow_id", workflowId), version };
  if (workflowId !== "")
    throw invalidField("assistant_id", "AMBIGUOUS", "does not go with workflow_id; send one");
  if (version !== 0)
    throw invalidField("version", "AMBIGUOUS", "is that of a workflow; an assistant has its own");
  const named = optionalName("assistant_id", assistantId);
  return { workflowId: "", version, ...(named === "" ? {} : { assistantId: named }) };
}

export const assistantNotFound = (assistantId: string): EngineError =>
  new EngineError("ASSISTANT_NOT_FOUND", `There is no assistant ${assistantId}.`, {
    metadata: { assistant_id: assistantId },
  });

/** @throws INPUT_INVALID, LIMIT_EXCEEDED */
export const parseCreateAssistant = (request: CreateAssistantRequest) => ({
  assistantId: optionalName("assistant_id", request.assistantId),
  spec: specOf(request.spec),
  requestId: requestIdOf(request.requestId),
});

/** @throws INPUT_INVALID, LIMIT_EXCEEDED */
export const parseUpdateAssistant = (request: UpdateAssistantRequest) => ({
  assistantId: nameOf("assistant_id", request.assistantId),
  spec: specOf(request.spec),
  expectedVersion: request.expectedVersion,
  requestId: requestIdOf(request.requestId),
});

/** @throws INPUT_INVALID */
export const parseDeleteAssistant = (request: DeleteAssistantRequest) => ({
  assistantId: nameOf("assistant_id", request.assistantId),
  force: request.force,
  requestId: requestIdOf(request.requestId),
});

/** @throws INPUT_INVALID, LIMIT_EXCEEDED */
export const parseAssistantFilter = (request: ListAssistantsRequest): AssistantFilter => ({
  metadata: metadataOf(request) ?? "",
  workflowId: optionalName("workflow_id", request.workflowId),
});

function specOf(wire: WireSpec | undefined): AssistantSpec {
  if (wire === undefined) throw invalidField("spec", "REQUIRED", "is missing");
  return inFieldOf("spec", () => ({
    workflowId: nameOf("workflow_id", wire.workflowId),
    workflowVersion: wire.workflowVersion,
    config: configOf(wire),
    metadata: metadataOf(wire) ?? "{}",
    defaults: inFieldOf("defaults", () => defaultsOf(wire.defaults)),
  }));
}

/** The text of a JSON object. @throws INPUT_INVALID, LIMIT_EXCEEDED */
function configOf({ configJson, config }: Pick<WireSpec, "configJson" | "config">): string {
  if (configJson.length === 0 && config === undefined) return "{}";
  const text =
    configJson.length > 0 || config === undefined
      ? jsonOf("config_json", configJson)
      : valueOf("config", config);
  if (exceedsUtf8(text, LIMITS.configBytes))
    throw new EngineError("LIMIT_EXCEEDED", `config: at most ${LIMITS.configBytes} bytes`, {
      metadata: { field: "config", limit: "configBytes" },
    });
  if (!isRecord(JSON.parse(text)))
    throw invalidField("config", "NOT_AN_OBJECT", "is not a JSON object");
  return text;
}

/** A default has no bounds. */
const BOUNDS = { maxIterations: 0, maxRetries: undefined };

function defaultsOf(wire: WireDefaults | undefined): StartDefaults {
  if (wire === undefined) return {};
  const { goal, constraints } = askedOf({ ...BOUNDS, ...wire });
  const budget = budgetOf(wire.budget);
  const strategy = strategyOf(wire.multitaskStrategy);
  const yields = yieldsOf(wire.threadRelease);
  return {
    ...(goal === undefined ? {} : { goal }),
    ...(constraints === undefined ? {} : { constraints }),
    ...(budget === undefined ? {} : { budget }),
    ...(strategy === undefined ? {} : { strategy }),
    ...(yields === undefined ? {} : { yields }),
  };
}

export function toWireAssistant(assistant: AssistantRecord): WireAssistant {
  const { goal = "", constraints = [], budget, strategy, yields } = assistant.defaults;
  return create(AssistantSchema, {
    assistantId: assistant.assistantId,
    spec: {
      workflowId: assistant.workflowId,
      workflowVersion: assistant.workflowVersion,
      configJson: toJsonBytes(assistant.config),
      metadataJson: toJsonBytes(assistant.metadata),
      defaults: {
        goal,
        constraints: [...constraints],
        ...(budget && { budget: toWireAskedBudget(budget) }),
        multitaskStrategy: toWireStrategy(strategy),
        threadRelease: toWireRelease(yields),
      },
    },
    version: assistant.version,
    createTime: toTimestamp(assistant.createdAt),
    updateTime: toTimestamp(assistant.updatedAt),
  });
}
