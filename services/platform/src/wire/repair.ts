// A repair on the wire: its request, and the plan as clients see it.

import { create, type MessageInitShape } from "@bufbuild/protobuf";
import { invalidField } from "@pawl/core/fault/engine-error";
import type { RunId } from "@pawl/core/name/ids";
import type { PlannedNode, RepairPlan, SetOutput } from "@pawl/core/repair/plan";
import {
  RepairAction,
  RepairPlanSchema,
  type RepairNodeSchema,
  type RepairPlan as WirePlan,
} from "@pawl/proto/pawl/v1/repair_pb";
import type {
  RepairRunRequest,
  RetryRunRequest,
  SetOutputRequest,
} from "@pawl/proto/pawl/v1/run_service_pb";
import type { EffectCount } from "../store/effects/effects.ts";
import { namesOf } from "./enum.ts";
import {
  cursorOf,
  definitionTextOf,
  inputOf,
  jsonOf,
  lineOf,
  nameOf,
  optionalName,
  requestIdOf,
  runIdOf,
  valueOf,
} from "./fields.ts";

/** A request to repair a finished run. */
export interface RepairAsked {
  readonly runId: RunId;
  readonly fromNodes: readonly string[];
  /** The last event to reuse. 0 means the whole log. */
  readonly fromSeq: number;
  /** The text of the definition. Undefined means that of the finished run, or the newest version. */
  readonly text: string | undefined;
  readonly latest: boolean;
  /** JSON text. Undefined means the input of the finished run. */
  readonly input: string | undefined;
  readonly outputs: readonly SetOutput[];
  readonly keepNodes: readonly string[];
  readonly keepEffects: boolean;
  readonly dryRun: boolean;
  readonly planDigest: string;
  readonly requestId: string | null;
  readonly who: string;
  readonly reason: string;
}

/** More names than a definition has nodes is a mistake. */
const NAMES_MAX = 1_000;
const DIGEST_LENGTH = 64;

/** @throws INPUT_INVALID, LIMIT_EXCEEDED */
export function parseRepair(request: RepairRunRequest): RepairAsked {
  const { definition, latest, inputJson, input } = request;
  if (definition !== undefined && latest)
    throw invalidField("latest", "AMBIGUOUS", "excludes definition; send one of them");
  const isInputGiven = inputJson.length > 0 || input !== undefined;
  const outputs = boundedBy("outputs", request.outputs).map(outputOf);
  const twice = outputs.find(({ nodeId }, at) =>
    outputs.some((other, index) => index < at && other.nodeId === nodeId),
  );
  if (twice !== undefined)
    throw invalidField("outputs", "DUPLICATE_ID", `names node ${twice.nodeId} twice`);
  return {
    runId: runIdOf(request.runId),
    fromNodes: namesIn("from_nodes", request.fromNodes),
    fromSeq: cursorOf("from_event_id", request.fromEventId),
    text: definition === undefined ? undefined : definitionTextOf(definition.text),
    latest,
    input: isInputGiven ? inputOf(request) : undefined,
    outputs,
    keepNodes: namesIn("keep_nodes", request.keepNodes),
    keepEffects: request.keepEffects,
    who: lineOf("by", request.by),
    reason: lineOf("reason", request.reason),
    ...askedOf(request),
  };
}

/** @throws INPUT_INVALID */
export const parseRetry = (request: RetryRunRequest): RepairAsked => ({
  runId: runIdOf(request.runId),
  fromNodes: [],
  fromSeq: 0,
  text: undefined,
  latest: request.latest,
  input: undefined,
  outputs: [],
  keepNodes: [],
  keepEffects: request.keepEffects,
  who: "",
  reason: "",
  ...askedOf(request),
});

const askedOf = (request: RepairRunRequest | RetryRunRequest) => ({
  dryRun: request.dryRun,
  planDigest: lineOf("plan_digest", request.planDigest, DIGEST_LENGTH),
  requestId: requestIdOf(request.requestId),
});

function boundedBy<Item>(field: string, items: readonly Item[]): readonly Item[] {
  if (items.length <= NAMES_MAX) return items;
  throw invalidField(field, "TOO_MANY", `has more than ${NAMES_MAX} entries`);
}

const namesIn = (field: string, names: readonly string[]): string[] =>
  boundedBy(field, names).map((name, index) => nameOf(`${field}[${index}]`, name));

function outputOf(set: SetOutputRequest, index: number): SetOutput {
  const field = `outputs[${index}]`;
  const { outputJson, output } = set;
  if (outputJson.length === 0 && output === undefined)
    throw invalidField(`${field}.output_json`, "REQUIRED", "is missing");
  return {
    nodeId: nameOf(`${field}.node_id`, set.nodeId),
    json:
      outputJson.length > 0 || output === undefined
        ? jsonOf(`${field}.output_json`, outputJson)
        : valueOf(`${field}.output`, output),
    handle: optionalName(`${field}.handle`, set.handle) || undefined,
  };
}

/** A plan with the facts that only the scheduler knows. */
export interface ShownPlan extends Omit<RepairPlan, "facts" | "repeatsTooOften"> {
  readonly runId: RunId;
  readonly digest: string;
  readonly reusedFacts: number;
  readonly definitionDigest: string;
  readonly workflowVersion: number;
  /** The effects that may happen again, by execution and class. */
  readonly effects: readonly EffectCount[];
  readonly keepsEffects: boolean;
}

const actions = namesOf(RepairAction);

export function toWirePlan(plan: ShownPlan): WirePlan {
  const { runId, digest, reusedFacts, definitionDigest, workflowVersion, usage, reserved } = plan;
  return create(RepairPlanSchema, {
    ...{ runId, digest, reusedFacts, definitionDigest, workflowVersion },
    nodes: plan.nodes.map((node) => toWireNode(plan, node)),
    inputTokens: BigInt(usage.inputTokens),
    outputTokens: BigInt(usage.outputTokens),
    costMicros: BigInt(usage.costMicros ?? 0),
    reservedTokens: BigInt(reserved.tokens ?? 0),
    reservedCostMicros: BigInt(reserved.costMicros ?? 0),
    warnings: [...plan.warnings],
  });
}

function toWireNode(
  { effects, keepsEffects }: ShownPlan,
  node: PlannedNode,
): MessageInitShape<typeof RepairNodeSchema> {
  const { nodeId, reason, change, changedFields, itemsReused, itemsAgain, usage } = node;
  const byClass = Map.groupBy(
    effects.filter((effect) => effect.nodeId === nodeId),
    (effect) => effect.class,
  );
  return {
    ...{ nodeId, reason, change, itemsReused, itemsAgain, changedFields: [...changedFields] },
    action: actions.values[node.action],
    eventId: BigInt(node.eventId),
    inputTokens: BigInt(usage.inputTokens),
    outputTokens: BigInt(usage.outputTokens),
    costMicros: BigInt(usage.costMicros ?? 0),
    effects: [...byClass].map(([effectClass, counts]) => ({
      effectClass,
      committed: sum(counts.map(({ committed }) => committed)),
      begun: sum(counts.map(({ begun }) => begun)),
      kept: keepsEffects,
    })),
  };
}

const sum = (numbers: readonly number[]): number => numbers.reduce((a, b) => a + b, 0);
