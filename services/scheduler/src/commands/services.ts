// The commands of pawl.v1 as the scheduler serves them to gateways. Each parses the request, runs the use case and answers. The gateway
// serves reads and previews.

import { EngineError } from "@pawl/core/fault/engine-error";
import type { ApprovalId, RunId } from "@pawl/core/name/ids";
import { DEFAULT_TENANT } from "@pawl/core/name/tenant";
import type { Queryable } from "@pawl/platform/db/query";
import { OCCURRENCES_SHOWN, upcoming } from "@pawl/platform/queue/occurrences";
import { serve, type ServedService } from "@pawl/platform/rpc/implementation";
import { getApproval } from "@pawl/platform/store/approvals/reads";
import { countEffects } from "@pawl/platform/store/effects/reads";
import { readKnownTypes } from "@pawl/platform/store/node-types/reads";
import { getRun } from "@pawl/platform/store/runs/reads";
import type { RunFilters } from "@pawl/platform/store/filters/filters";
import type { ScheduleRecord } from "@pawl/platform/store/schedules/schedules";
import { parseTopUp } from "@pawl/platform/wire/budget";
import { parseCancel } from "@pawl/platform/wire/cancel";
import { toWireApproval } from "@pawl/platform/wire/approval";
import { toWirePause } from "@pawl/platform/wire/pause";
import {
  parseAnswer,
  parseCreateWorkflow,
  parseDecision,
  parseDeleteWorkflow,
  parsePauseRun,
  parsePauseWorkflow,
  parseRunCommand,
  parseStart,
  parseTest,
  parseUpdateWorkflow,
} from "@pawl/platform/wire/requests";
import {
  parsePauseSchedule,
  parseSaveSchedule,
  parseScheduleCommand,
} from "@pawl/platform/wire/schedule-requests";
import { parseRepair, parseRetry, type RepairAsked, toWirePlan } from "@pawl/platform/wire/repair";
import { toWireAcceptedRun, toWireRun } from "@pawl/platform/wire/run";
import { filterNotFound, parseSaveFilter, toWireRunFilter } from "@pawl/platform/wire/filter";
import { nameOf } from "@pawl/platform/wire/fields";
import { parseMetadata } from "@pawl/platform/wire/metadata";
import { parseSignal } from "@pawl/platform/wire/signal";
import { toWireSchedule } from "@pawl/platform/wire/schedule";
import { toWireViolation, toWireWorkflow } from "@pawl/platform/wire/workflow";
import { ApprovalService } from "@pawl/proto/pawl/v1/approval_service_pb";
import { RunService } from "@pawl/proto/pawl/v1/run_service_pb";
import { ScheduleService } from "@pawl/proto/pawl/v1/schedule_service_pb";
import { WorkflowService } from "@pawl/proto/pawl/v1/workflow_service_pb";
import { runNotFound } from "@pawl/platform/wire/run";
import type { StartAnswer } from "../inputs/input.ts";
import { archiveCommands } from "./archive-commands.ts";
import { approvalNotFound, decideApproval, decideNode } from "./decide.ts";
import { assistantCommands } from "./assistant-commands.ts";
import type { AssistantCommandParts } from "./assistants.ts";
import { bulkCommands } from "./bulk-commands.ts";
import type { BulkParts } from "./bulks.ts";
import { cancelRun, deleteRun } from "./end-run.ts";
import { type PauseParts, pauseWorkflow, resumeWorkflow } from "./pause.ts";
import { pauseRun } from "./pause-run.ts";
import { queueCommands, type QueueCommandParts } from "./queue-commands.ts";
import { recheckRun } from "./recheck-run.ts";
import { repairRun } from "./repair-run.ts";
import type { RedriveParts } from "./redrive.ts";
import { statsService, type StatsServiceParts } from "./report-pools.ts";
import type { RestoreParts } from "./restore-run.ts";
import { resumeInterrupted } from "./resume-interrupted.ts";
import type { ResumeParts } from "./resume-runs.ts";
import {
  createSchedule,
  deleteSchedule,
  pauseSchedule,
  resumeSchedule,
  type ScheduleParts,
  triggerSchedule,
  updateSchedule,
} from "./save-schedule.ts";
import {
  createWorkflow,
  deleteWorkflow,
  type SavedWorkflow,
  updateWorkflow,
} from "./save-workflow.ts";
import { updateMetadata } from "./run-metadata.ts";
import { signalRun } from "./signal-run.ts";
import { startRun, testRun } from "./start-run.ts";
import { threadCommands } from "./thread-commands.ts";
import type { ThreadCommandParts } from "./threads.ts";
import { topUpRun } from "./top-up-run.ts";
import { webhookCommands } from "./webhook-commands.ts";
import type { WebhookParts } from "./webhooks.ts";

type RunParts = ResumeParts &
  RedriveParts &
  PauseParts &
  ThreadCommandParts &
  AssistantCommandParts;
type Parts = ScheduleParts &
  RunParts &
  WebhookParts &
  BulkParts &
  RestoreParts &
  StatsServiceParts &
  QueueCommandParts & { readonly filters: RunFilters };

const TENANT = DEFAULT_TENANT;

export const commandServices = (parts: Parts, db: Queryable): ServedService[] => [
  runCommands(parts, db),
  workflowCommands(parts, db),
  scheduleCommands(parts, db),
  threadCommands(parts),
  assistantCommands(parts),
  approvalCommands(parts, db),
  queueCommands(parts, db),
  webhookCommands(parts),
  bulkCommands(parts, db),
  archiveCommands(parts, db),
  statsService(parts),
];

const runCommands = (parts: Parts, db: Queryable): ServedService =>
  serve(RunService, {
    startRun: async (request) => answer(db, await startRun(parts, TENANT, parseStart(request))),
    testRun: async (request) => {
      const asked = parseTest(request);
      const types = await readKnownTypes(db, asked.text);
      const accepted = await testRun(parts, TENANT, asked, types);
      return { ...(await answer(db, accepted)), warnings: accepted.warnings.map(toWireViolation) };
    },
    cancelRun: async (request) => readRun(db, await cancelRun(parts, parseCancel(request))),
    decideNode: async (request) => readRun(db, await decideNode(parts, parseDecision(request))),
    recheckRun: async (request) => readRun(db, await recheckRun(parts, parseRunCommand(request))),
    repairRun: (request) => repaired(parts, db, parseRepair(request)),
    retryRun: (request) => repaired(parts, db, parseRetry(request)),
    pauseRun: async (request) =>
      readRun(db, await pauseRun(parts, "pause", parsePauseRun(request))),
    resumeRun: async (request) => {
      const asked = parsePauseRun(request);
      try {
        return await readRun(db, await pauseRun(parts, "resume", asked));
      } catch (error) {
        if (!isFinished(error)) throw error;
        const continued = await resumeInterrupted(repairParts(parts, db), TENANT, asked.runId);
        if (continued === undefined) throw error;
        return await answer(db, continued);
      }
    },
    signalRun: async (request) => {
      const { runId, isDuplicate, isKept } = await signalRun(parts, parseSignal(request));
      return { ...(await readRun(db, runId)), duplicate: isDuplicate, kept: isKept };
    },
    updateRunMetadata: async (request) =>
      readRun(db, await updateMetadata(parts, parseMetadata(request))),
    saveRunFilter: async (request) => {
      const { name, filter } = parseSaveFilter(request);
      return {
        runFilter: toWireRunFilter(await parts.filters.save({ tenantId: TENANT, name }, filter)),
      };
    },
    deleteRunFilter: async (request) => {
      const name = nameOf("name", request.name);
      if (await parts.filters.remove({ tenantId: TENANT, name })) return {};
      throw filterNotFound(name);
    },
    topUpRun: async (request) => readRun(db, await topUpRun(parts, parseTopUp(request))),
    deleteRun: async (request) => {
      await deleteRun(parts, parseRunCommand(request));
      return {};
    },
  });

const workflowCommands = (parts: Parts, db: Queryable): ServedService =>
  serve(WorkflowService, {
    createWorkflow: async (request) => {
      const asked = parseCreateWorkflow(request);
      const types = await readKnownTypes(db, asked.text);
      return savedWorkflow(await createWorkflow(parts, TENANT, asked, types));
    },
    updateWorkflow: async (request) => {
      const asked = parseUpdateWorkflow(request);
      const types = await readKnownTypes(db, asked.text);
      return savedWorkflow(await updateWorkflow(parts, TENANT, asked, types));
    },
    deleteWorkflow: async (request) => {
      await deleteWorkflow(parts, TENANT, parseDeleteWorkflow(request));
      return {};
    },
    pauseWorkflow: async (request) => ({
      pause: toWirePause(await pauseWorkflow(parts, TENANT, parsePauseWorkflow(request))),
    }),
    resumeWorkflow: async (request) => ({
      resuming: await resumeWorkflow(parts, TENANT, parsePauseWorkflow(request)),
    }),
  });

function scheduleCommands(parts: Parts, db: Queryable): ServedService {
  const shown = async (schedule: ScheduleRecord) => {
    const times = await upcoming(parts.occurrences, schedule, OCCURRENCES_SHOWN);
    return { schedule: toWireSchedule(schedule, times) };
  };
  return serve(ScheduleService, {
    createSchedule: async (request) =>
      shown(await createSchedule(parts, TENANT, parseSaveSchedule(request))),
    updateSchedule: async (request) => {
      const { expectedVersion } = request;
      const asked = { ...parseSaveSchedule(request), expectedVersion };
      return shown(await updateSchedule(parts, TENANT, asked));
    },
    pauseSchedule: async (request) =>
      shown(await pauseSchedule(parts, TENANT, parsePauseSchedule(request))),
    resumeSchedule: async (request) =>
      shown(await resumeSchedule(parts, TENANT, parseScheduleCommand(request))),
    deleteSchedule: async (request) => {
      await deleteSchedule(parts, TENANT, parseScheduleCommand(request));
      return {};
    },
    triggerSchedule: async (request) =>
      answer(db, await triggerSchedule(parts, TENANT, parseScheduleCommand(request))),
  });
}

function approvalCommands(parts: Parts, db: Queryable): ServedService {
  const read = async (approvalId: ApprovalId) => {
    const record = await getApproval(db, TENANT, approvalId);
    if (record === undefined) throw approvalNotFound(approvalId);
    return { approval: toWireApproval(record) };
  };
  return serve(ApprovalService, {
    approveApproval: async (request) =>
      read(await decideApproval(parts, "approve", parseAnswer(request))),
    rejectApproval: async (request) =>
      read(await decideApproval(parts, "reject", parseAnswer(request))),
  });
}

const repairParts = (parts: Parts, db: Queryable) => {
  const effectsOf = (runId: RunId) => countEffects(db, runId);
  return { ...parts, effectsOf, types: undefined };
};

const isFinished = (error: unknown): boolean =>
  error instanceof EngineError && error.reason === "RUN_ALREADY_FINISHED";

/** The plan of a repair and, unless it is a dry run, the new run. */
async function repaired(parts: Parts, db: Queryable, asked: RepairAsked) {
  const { text = "" } = asked;
  const types = text === "" ? undefined : await readKnownTypes(db, text);
  const made = await repairRun({ ...repairParts(parts, db), types }, TENANT, asked);
  return {
    ...(made.plan === undefined ? {} : { plan: toWirePlan(made.plan) }),
    ...(made.accepted === undefined ? {} : await answer(db, made.accepted)),
    warnings: made.warnings.map(toWireViolation),
  };
}

/** The answer about a new run needs no read. */
const answer = async (db: Queryable, accepted: StartAnswer) => ({
  ...(accepted.duplicate
    ? await readRun(db, accepted.runId)
    : { run: toWireAcceptedRun(accepted) }),
  duplicate: accepted.duplicate,
});

async function readRun(db: Queryable, runId: RunId) {
  const record = await getRun(db, TENANT, runId);
  if (record === undefined) throw runNotFound(runId);
  return { run: toWireRun(record) };
}

const savedWorkflow = ({ row, warnings }: SavedWorkflow) => ({
  workflow: toWireWorkflow({ ...row, workflowId: row.workflowId ?? "", updatedAt: row.createdAt }),
  warnings: warnings.map(toWireViolation),
});
