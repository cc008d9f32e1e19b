// Every list that comes in pages, with its tokens sealed.

import type { RunId } from "@pawl/core/name/ids";
import type { Pool } from "@pawl/platform/db/pool";
import type { ApprovalFilter } from "@pawl/platform/store/approvals/approvals";
import { listApprovals } from "@pawl/platform/store/approvals/reads";
import type {
  DeadLetterFilter,
  DeadLetterState,
} from "@pawl/platform/store/dead-letters/dead-letters";
import { listDeadLetters } from "@pawl/platform/store/dead-letters/reads";
import { listWorkflows } from "@pawl/platform/store/workflows/reads";
import { listEffects } from "@pawl/platform/store/effects/reads";
import { listRuns } from "@pawl/platform/store/runs/reads";
import type { RunFilter } from "@pawl/platform/store/runs/runs";
import { listSchedules } from "@pawl/platform/store/schedules/reads";
import { readSecret } from "@pawl/platform/db/secrets";
import { DEFAULT_TENANT } from "@pawl/core/name/tenant";
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
