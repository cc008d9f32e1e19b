// Bulks on the wire.

import { create } from "@bufbuild/protobuf";
import { LIMITS } from "@pawl/core/data/limits";
import { EngineError, invalidField } from "@pawl/core/fault/engine-error";
import {
  type BulkAction,
  type BulkOptions,
  type BulkOutcome,
  whySkipped,
} from "@pawl/core/bulk/bulk";
import {
  BulkAction as WireAction,
  type Bulk as WireBulk,
  type BulkOptions as WireOptions,
  BulkOptionsSchema,
  BulkOutcome as WireOutcome,
  type BulkPreview,
  BulkPreviewSchema,
  BulkRunSchema,
  BulkSchema,
  BulkState as WireState,
  type StartBulkRequest,
  type StopBulkRequest,
} from "@pawl/proto/pawl/v1/bulk_service_pb";
import type { BulkCount, BulkRecord, BulkRunRecord, SameRuns } from "../store/bulks/bulks.ts";
import { namesOf } from "./enum.ts";
import { definitionTextOf, lineOf, nameOf, rangeOf, requestIdOf, uuidOf } from "./fields.ts";
import { toTimestamp, toTimestampOrNone } from "./scalar.ts";

const actions = namesOf(WireAction);
const states = namesOf(WireState);
const outcomes = namesOf(WireOutcome);

export const fromWireBulkOutcome: (outcome: number) => BulkOutcome | undefined = outcomes.nameOf;

/** @throws INPUT_INVALID */
export const bulkIdOf = (text: string): string => uuidOf("bulk_id", text);

export const bulkNotFound = (bulkId: string): EngineError =>
  new EngineError("BULK_NOT_FOUND", `There is no bulk ${bulkId}.`, {
    metadata: { bulk_id: bulkId },
  });

/** A request to start a bulk, without its filter. @throws INPUT_INVALID, LIMIT_EXCEEDED */
export function parseStartBulk(request: StartBulkRequest) {
  const action = actions.nameOf(request.action);
  if (action === undefined) throw invalidField("action", "REQUIRED", "is not an action of a bulk");
  if (request.filter.trim() === "" && request.savedFilter === "")
    throw invalidField("filter", "REQUIRED", "is empty; a bulk of all runs needs one, too");
  const asked = request.options ?? create(BulkOptionsSchema);
  return {
    action,
    options: optionsOf(asked),
    definition: definitionOf(action, asked),
    dryRun: request.dryRun,
    requestId: requestIdOf(request.requestId),
  };
}

function optionsOf(asked: WireOptions): BulkOptions {
  const { canaryRuns, canaryPercent, autoContinue, maxPerSecond, abortFailed, compensate } = asked;
  if (canaryRuns > 0 && canaryPercent > 0)
    throw invalidField("options.canary_percent", "AMBIGUOUS", "excludes canary_runs; send one");
  if (autoContinue && canaryRuns + canaryPercent === 0)
    throw invalidField("options.auto_continue", "NOT_ALLOWED", "needs canary runs");
  rangeOf("options.max_per_second", maxPerSecond, 0, LIMITS.bulkPerSecondMax);
  return {
    canaryRuns: rangeOf("options.canary_runs", canaryRuns, 0, LIMITS.bulkRuns),
    canaryPercent: rangeOf("options.canary_percent", canaryPercent, 0, 100),
    autoContinue,
    perSecond: maxPerSecond || LIMITS.bulkPerSecond,
    abortFailed: abortFailed ?? null,
    abortPercent: rangeOf("options.abort_percent", asked.abortPercent, 0, 100),
    compensate: compensate ?? null,
    latest: asked.latest,
    fromNodes: fromNodesOf(asked.fromNodes),
    keepEffects: asked.keepEffects,
    by: lineOf("options.by", asked.by),
    reason: lineOf("options.reason", asked.reason),
  };
}

/** More names than a definition has nodes is a mistake. */
const NAMES_MAX = 1_000;

function fromNodesOf(names: readonly string[]): string[] {
  if (names.length > NAMES_MAX)
    throw invalidField("options.from_nodes", "TOO_MANY", `has more than ${NAMES_MAX} entries`);
  return names.map((name, at) => nameOf(`options.from_nodes[${at}]`, name));
}

/** What one action takes, another refuses: the caller meant something else. */
function definitionOf(action: BulkAction, asked: WireOptions): string | undefined {
  const { definitionText, latest, fromNodes, compensate, keepEffects } = asked;
  const isRepair = action === "repair";
  const isAgain = isRepair || action === "retry";
  const refuse = (field: string, actionName: string): never => {
    throw invalidField(`options.${field}`, "NOT_ALLOWED", `is for ${actionName} only`);
  };
  if (definitionText !== "" && !isRepair) refuse("definition_text", "REPAIR");
  if (fromNodes.length > 0 && !isRepair) refuse("from_nodes", "REPAIR");
  if (latest && !isAgain) refuse("latest", "RETRY and REPAIR");
  if (keepEffects && !isAgain) refuse("keep_effects", "RETRY and REPAIR");
  if (compensate !== undefined && action !== "cancel") refuse("compensate", "CANCEL");
  if (definitionText === "") return undefined;
  if (latest)
    throw invalidField("options.latest", "AMBIGUOUS", "excludes definition_text; send one of them");
  return definitionTextOf(definitionText);
}

/** @throws INPUT_INVALID */
export const parseBulkCommand = ({ bulkId }: { readonly bulkId: string }) => ({
  bulkId: bulkIdOf(bulkId),
});

/** @throws INPUT_INVALID */
export const parseStopBulk = ({ bulkId, reason }: StopBulkRequest) => ({
  bulkId: bulkIdOf(bulkId),
  reason: lineOf("reason", reason),
});

export function toWireBulk({ tenantId: _tenant, ...bulk }: BulkRecord): WireBulk {
  const { options, action, state, createdAt, updatedAt, endedAt, ...same } = bulk;
  const { perSecond, abortFailed, compensate, fromNodes, ...asked } = options;
  return create(BulkSchema, {
    ...same,
    action: actions.values[action],
    options: {
      ...{ ...asked, fromNodes: [...fromNodes], maxPerSecond: perSecond },
      ...(abortFailed === null ? {} : { abortFailed }),
      ...(compensate === null ? {} : { compensate }),
    },
    state: states.values[state],
    createTime: toTimestamp(createdAt),
    updateTime: toTimestamp(updatedAt),
    endTime: toTimestampOrNone(endedAt),
  });
}

export const toWireBulkCount = ({ outcome, reason, count }: BulkCount) => ({
  outcome: outcomes.values[outcome],
  reason,
  count,
});

export const toWireBulkRun = ({ outcome, newRunId, endedAt, ...same }: BulkRunRecord) =>
  create(BulkRunSchema, {
    ...same,
    outcome: outcome === null ? WireOutcome.UNSPECIFIED : outcomes.values[outcome],
    newRunId: newRunId ?? "",
    endTime: toTimestampOrNone(endedAt),
  });

/** What a bulk would do to the runs that its filter finds. */
export function toWireBulkPreview(action: BulkAction, found: readonly SameRuns[]): BulkPreview {
  const judged = found.map((same) => ({ ...same, reason: whySkipped(action, same.facts) }));
  const applying = judged.filter(({ reason }) => reason === undefined);
  const byReason = Map.groupBy(judged, ({ reason }) => reason ?? "");
  byReason.delete("");
  return create(BulkPreviewSchema, {
    matched: countOf(judged),
    applies: countOf(applying),
    skipped: [...byReason].map(([reason, some]) =>
      toWireBulkCount({ outcome: "skipped", reason, count: countOf(some) }),
    ),
    firstRunIds: applying
      .flatMap(({ runIds }) => [...runIds])
      .toSorted()
      .slice(0, LIMITS.bulkPreviewRuns),
  });
}

const countOf = (some: readonly { readonly count: number }[]): number =>
  some.reduce((sum, { count }) => sum + count, 0);
