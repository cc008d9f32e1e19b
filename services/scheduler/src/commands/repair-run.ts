// Repairs a finished run: plans what a new run reuses of it, and starts that run. The plan comes from the log of the finished run, which
// never changes. The new run, its link, and everything that it takes over commit in one transaction, so a crash leaves all of it or nothing.
// A repeated request finds the run by its request id.
//
// Race: a user saves a newer version of the workflow between the plan and the repair with `latest`. The digest of the plan names the
// definition, so the repair is refused. A user deletes a finished test run meanwhile: the new run has copies and needs nothing of it.

import type { KnownTypes } from "@pawl/core/definition/known-types";
import type { Violation } from "@pawl/core/definition/shape";
import { EngineError, invalidField } from "@pawl/core/fault/engine-error";
import { checkRead } from "@pawl/core/log/check";
import type { RunEvent } from "@pawl/core/log/event";
import { endsResults } from "@pawl/core/log/undone";
import { metadataOf } from "@pawl/core/log/metadata";
import type { AcceptedStart } from "@pawl/core/log/start";
import type { RunId } from "@pawl/core/name/ids";
import { eventsUpTo } from "@pawl/core/repair/ends";
import {
  isAgain,
  planRepair,
  planText,
  type RepairPlan,
  runsAnything,
} from "@pawl/core/repair/plan";
import type { EffectCount } from "@pawl/platform/store/effects/effects";
import type { LoadedRun } from "@pawl/platform/store/runs/runs";
import type { RepairAsked, ShownPlan } from "@pawl/platform/wire/repair";
import { runNotFound } from "@pawl/platform/wire/run";
import { requestReused } from "../inputs/errors.ts";
import type { StartAnswer } from "../inputs/input.ts";
import { runQuarantined } from "../inputs/quarantine.ts";
import { checkRunInput } from "../inputs/run-input.ts";
import { accept } from "./accept.ts";
import { nodeTypesOf } from "./definition.ts";
import { sha256 } from "./digest.ts";
import type { AdmitParts } from "./parts.ts";
import { checkNames, checkOutputs } from "./repair-checks.ts";
import { type RepairedDefinition, repairedDefinition } from "./repair-definition.ts";
import { budgetOf, newStart } from "./start-run.ts";
import { takenOver } from "./taken-over.ts";

export interface RepairParts extends AdmitParts {
  readonly effectsOf: (runId: RunId) => Promise<readonly EffectCount[]>;
  /** The node types that executors serve and publish, if the request has a definition. */
  readonly types: KnownTypes | undefined;
}

interface Repaired {
  /** Undefined for a repeated request. */
  readonly plan?: ShownPlan;
  /** Undefined for a dry run. */
  readonly accepted?: StartAnswer;
  readonly warnings: readonly Violation[];
}

/**
 * @throws RUN_NOT_FOUND, RUN_QUARANTINED, RUN_NOT_FINISHED, RUN_NOT_REPAIRABLE, NODE_NOT_FOUND, NOTHING_TO_REPAIR, REPAIR_PLAN_STALE,
 * DEFINITION_INVALID, INPUT_INVALID, REQUEST_ID_REUSED, STORE_UNAVAILABLE
 */
export async function repairRun(
  parts: RepairParts,
  tenantId: string,
  asked: RepairAsked,
  { staysOnThread = false } = {},
): Promise<Repaired> {
  const { requestId, dryRun, planDigest, ...content } = asked;
  const requestHash = sha256("repair", JSON.stringify(content));
  const before = dryRun ? undefined : await earlier(parts, tenantId, requestId, requestHash);
  if (before !== undefined) return { accepted: before, warnings: [] };
  const origin = await finishedRun(parts, asked.runId);
  const definition = await repairedDefinition(parts, tenantId, origin, asked);
  const { plan, shown, input } = await planned(parts, origin, definition, asked);
  const { warnings } = definition;
  if (dryRun) return { plan: shown, warnings };
  if (planDigest !== "" && planDigest !== shown.digest)
    throw new EngineError(
      "REPAIR_PLAN_STALE",
      "The plan of this repair is another one by now: the definition, the request or the run has changed since it was shown.",
      { metadata: { run_id: asked.runId } },
    );
  const start = startOf(parts, { tenantId, origin, definition, plan, shown, input, asked });
  await parts.ensureQueues(nodeTypesOf(definition.graph));
  if (definition.unsaved !== undefined)
    parts.definitions.keep(definition.definitionId, definition.graph, definition.unsaved.row.body);
  // A repair changes no thread. A run that continues an interrupted one takes its place in the line.
  const { thread } = origin.started.payload;
  const on =
    thread === undefined || !staysOnThread
      ? {}
      : { thread: { ...thread, isCreated: false, strategy: "enqueue" } as const };
  const accepted = await accept(parts, { ...start, ...on, requestHash }, definition.unsaved);
  return { plan: shown, accepted, warnings };
}

/** The answer to a request that was accepted before. @throws REQUEST_ID_REUSED */
async function earlier(
  { journal }: RepairParts,
  tenantId: string,
  requestId: string | null,
  requestHash: string,
): Promise<StartAnswer | undefined> {
  if (requestId === null) return undefined;
  const [found] = await journal.findRequest(tenantId, [requestId]);
  if (found === undefined) return undefined;
  if (found.requestHash !== requestHash) throw requestReused({ request_id: requestId });
  return { duplicate: true, runId: found.runId };
}

/** The whole log of a run that has ended. */
export interface FinishedRun extends LoadedRun {
  readonly started: Extract<RunEvent, { readonly type: "run.started" }>;
}

/** @throws RUN_NOT_FOUND, RUN_QUARANTINED, RUN_NOT_FINISHED, RUN_NOT_REPAIRABLE, EVENT_LOG_CORRUPTION */
async function finishedRun({ journal }: RepairParts, runId: RunId): Promise<FinishedRun> {
  const [run] = await journal.load([{ runId, afterSeq: 0 }]);
  if (run === undefined) throw runNotFound(runId);
  if (run.quarantine !== null) throw runQuarantined(runId, run.quarantine);
  if (!run.hasEnded)
    throw new EngineError("RUN_NOT_FINISHED", `Run ${runId} has not ended; nothing was changed.`, {
      metadata: { run_id: runId },
    });
  const [started] = run.events;
  if (started?.type !== "run.started")
    throw notRepairable(runId, "its log was removed by retention, so no result can be reused");
  if (started.payload.kind === "temporary")
    throw notRepairable(runId, "it is temporary, and is deleted soon");
  checkRead(run);
  if (run.events.some(endsResults))
    throw notRepairable(runId, "its nodes were undone, so their results no longer hold");
  return { ...run, started };
}

const notRepairable = (runId: RunId, why: string): EngineError =>
  new EngineError("RUN_NOT_REPAIRABLE", `Run ${runId} cannot be repaired: ${why}.`, {
    metadata: { run_id: runId },
  });

/** @throws NODE_NOT_FOUND, INPUT_INVALID, NOTHING_TO_REPAIR, RUN_NOT_REPAIRABLE */
async function planned(
  parts: RepairParts,
  origin: FinishedRun,
  definition: RepairedDefinition,
  asked: RepairAsked,
): Promise<{ readonly plan: RepairPlan; readonly shown: ShownPlan; readonly input: string }> {
  const { runId, keepEffects, who, reason, outputs } = asked;
  const { graph, digest: definitionDigest, workflowVersion } = definition;
  const input = asked.input ?? origin.started.value ?? "null";
  checkNames(graph, origin, asked);
  checkRunInput(graph, input);
  checkOutputs(graph, outputs);
  const events = asked.fromSeq === 0 ? origin.events : eventsUpTo(origin.events, asked.fromSeq);
  const isSame = input === (origin.started.value ?? "null");
  const request = {
    ...{ graph, outputs, note: { who, reason }, input: isSame ? undefined : input },
    fromNodes: new Set(asked.fromNodes),
    keepNodes: new Set(asked.keepNodes),
  };
  const { now, priceOf } = parts;
  const made = planRepair({ runId, graph: definition.before, events }, request, now(), priceOf);
  if (!made.ok) {
    const at = outputs.findIndex(({ nodeId }) => nodeId === made.nodeId);
    throw invalidField(`outputs[${at}]`, "OUTPUT_INVALID", `node ${made.nodeId}: ${made.message}`);
  }
  const { plan } = made;
  if (!runsAnything(plan)) throw nothingToRepair(runId);
  if (plan.repeatsTooOften)
    throw notRepairable(runId, "it repeated too often; give a definition with more max_iterations");
  const counts = await parts.effectsOf(runId);
  const nodes = new Map(plan.nodes.map((node) => [node.nodeId as string, node]));
  const effects = counts.filter(({ nodeId, iteration }) => {
    const node = nodes.get(nodeId);
    return node !== undefined && isAgain(node, iteration);
  });
  const said = [runId, definitionDigest, input, JSON.stringify(outputs), String(keepEffects)];
  const { facts, repeatsTooOften: _repeats, warnings, ...rest } = plan;
  const shown: ShownPlan = {
    ...rest,
    ...{ runId, definitionDigest, workflowVersion, effects, keepsEffects: keepEffects },
    warnings: [...warnings, ...effectWarnings(effects, keepEffects)],
    digest: sha256("plan", ...said, planText(plan)),
    reusedFacts: facts.length,
  };
  return { plan, shown, input };
}

const nothingToRepair = (runId: RunId): EngineError =>
  new EngineError(
    "NOTHING_TO_REPAIR",
    `Every result of run ${runId} would be reused, so nothing would run.`,
    { metadata: { run_id: runId } },
  );

/** Effects that must not happen twice, by node. */
function effectWarnings(effects: readonly EffectCount[], keepEffects: boolean): string[] {
  const risky = effects.filter((effect) => effect.class === "at_most_once");
  const byNode = Map.groupBy(risky, ({ nodeId }) => nodeId);
  return [...byNode.keys()].map((nodeId) =>
    keepEffects
      ? `node ${nodeId}: it fails if the ledger does not know the result of an at_most_once effect`
      : `node ${nodeId}: its at_most_once effects may happen a second time; keep_effects prevents it`,
  );
}

interface NewRepair {
  readonly tenantId: string;
  readonly origin: FinishedRun;
  readonly definition: RepairedDefinition;
  readonly plan: RepairPlan;
  readonly shown: ShownPlan;
  readonly input: string;
  readonly asked: RepairAsked;
}

/** The new run keeps metadata, priority, schedule, assistant, bounds and labels of the finished one. It is the child of no run. */
function startOf(parts: RepairParts, repair: NewRepair): Omit<AcceptedStart, "requestHash"> {
  const { tenantId, origin, definition, plan, shown, input, asked } = repair;
  const { before, graph, definitionId, digest, workflowVersion } = definition;
  const { payload } = origin.started;
  const { kind, schedule } = payload;
  const taken = takenOver(payload, before.definition.budget, metadataOf(origin.events));
  const { deadlineMs = graph.definition.deadlineMs, budget: lowered, taint, ...kept } = taken;
  return {
    ...newStart(parts, graph, { input, taint, deadlineMs }),
    ...kept,
    ...budgetOf(graph, { budget: lowered }),
    ...(schedule === undefined ? {} : { schedule }),
    ...{ tenantId, kind, definitionId, definitionDigest: digest, workflowVersion },
    workflowId: origin.workflowId,
    assumesNewest: false,
    priority: origin.priority,
    requestId: asked.requestId,
    repair: {
      runId: asked.runId,
      planDigest: shown.digest,
      facts: plan.facts,
      keptEffects: asked.keepEffects
        ? plan.nodes.flatMap(({ nodeId, again }) =>
            again === undefined ? [] : [{ nodeId, fromBase: again.from, toBase: again.to }],
          )
        : [],
    },
  };
}
