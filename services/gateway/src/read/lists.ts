// Every list that comes in pages, with its tokens sealed.

import type { RunId } from "@pawl/core/name/ids";
import type { Pool } from "@pawl/platform/db/pool";
import { type ApprovalFilter, listApprovals } from "@pawl/platform/store/approvals";
import type { DeadLetterFilter, DeadLetterState } from "@pawl/platform/store/dead-letters";
import { listDeadLetters } from "@pawl/platform/store/dead-letters-postgres";
import { listWorkflows } from "@pawl/platform/store/definitions";
import { listEffects } from "@pawl/platform/store/effects";
import { listRuns, type RunFilter } from "@pawl/platform/store/runs";
import { listSchedules } from "@pawl/platform/store/schedule-reads";
import { readSecret } from "@pawl/platform/store/secrets";
import { DEFAULT_TENANT } from "@pawl/platform/store/tenant";
import { type PageRequest, PageSeal } from "./page-seal.ts";

type DeadLetterListFilter = DeadLetterFilter & { readonly states: readonly DeadLetterState[] };

export function createLists(pool: Pool) {
  const seal = new PageSeal(() => readSecret(pool, "page_tokens"));
  return {
    workflows: seal.around((page: PageRequest) => listWorkflows(pool, DEFAULT_TENANT, page)),
    runs: seal.around((filter: RunFilter, page: PageRequest) =>
      listRuns(pool, DEFAULT_TENANT, filter, page),
    ),
    effects: seal.around((runId: RunId, nodeId: string, page: PageRequest) =>
      listEffects(pool, runId, nodeId, page),
    ),
    schedules: seal.around((workflowId: string, page: PageRequest) =>
      listSchedules(pool, DEFAULT_TENANT, workflowId, page),
    ),
    approvals: seal.around((filter: ApprovalFilter, page: PageRequest) =>
      listApprovals(pool, DEFAULT_TENANT, filter, page),
    ),
    deadLetters: seal.around((filter: DeadLetterListFilter, page: PageRequest) =>
      listDeadLetters(pool, DEFAULT_TENANT, filter, page),
    ),
  };
}
