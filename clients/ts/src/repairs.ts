// Repairs of finished runs: the plan, and the run that follows it.

import type { Client } from "@connectrpc/connect";
import type { RepairPlan } from "@pawl/proto/pawl/v1/repair_pb";
import type { Run } from "@pawl/proto/pawl/v1/run_pb";
import type { RunService } from "@pawl/proto/pawl/v1/run_service_pb";
import { type Caller, identified, type MutationOptions, present } from "./caller.ts";
import { bytesOf, type DefinitionInput, definitionOf, type Json } from "./json.ts";

export type { RepairNode, RepairPlan } from "@pawl/proto/pawl/v1/repair_pb";

export interface RetryOptions extends MutationOptions {
  /** Uses the newest saved version of the workflow. */
  readonly latest?: boolean | undefined;
  /** The digest of a plan. The call fails with REPAIR_PLAN_STALE if the plan is another one by now. */
  readonly planDigest?: string | undefined;
  /** Does not repeat effects that happened: the new run gets the records of the effect ledger. */
  readonly keepEffects?: boolean | undefined;
}

/** The output of a node, set by hand. */
export interface SetOutput {
  readonly nodeId: string;
  readonly output?: Json | undefined;
  /** The output as JSON text, kept to the letter. It takes precedence. */
  readonly outputJson?: string | undefined;
  /** The handle by which the node leaves. */
  readonly handle?: string | undefined;
}

export interface RepairOptions extends RetryOptions {
  /** Nodes that run again, with everything that was decided on them. */
  readonly fromNodes?: readonly string[] | undefined;
  /** The last event to reuse. */
  readonly fromEventId?: number | undefined;
  /** The definition of the new run. Nodes that it changes run again. */
  readonly definition?: DefinitionInput | undefined;
  /** The input of the new run. */
  readonly input?: Json | undefined;
  /** The input as JSON text, kept to the letter. It takes precedence. */
  readonly inputJson?: string | undefined;
  readonly outputs?: readonly SetOutput[] | undefined;
  /** Nodes whose results are reused although their definition changed. */
  readonly keepNodes?: readonly string[] | undefined;
  /** The person who repairs the run, and the reason. The log keeps them with outputs set by hand. */
  readonly by?: string | undefined;
  readonly reason?: string | undefined;
}

export interface RepairedRun {
  readonly run: Run;
  /** Whether the gateway had accepted this request before. */
  readonly isDuplicate: boolean;
  /** Absent if the gateway had accepted the request before. */
  readonly plan: RepairPlan | undefined;
}

export interface Repairs {
  /** What a repair would reuse and run. It starts nothing. @throws PawlError RUN_NOT_FINISHED, NODE_NOT_FOUND, NOTHING_TO_REPAIR */
  planRepair(runId: string, options?: RepairOptions): Promise<RepairPlan>;
  /** Starts a run that repairs a finished one: it reuses the results that still hold. @throws PawlError also REPAIR_PLAN_STALE */
  repair(runId: string, options?: RepairOptions): Promise<RepairedRun>;
  /** Repairs a finished run from the nodes that did not complete. @throws PawlError RUN_NOT_FINISHED, NOTHING_TO_REPAIR */
  retry(runId: string, options?: RetryOptions): Promise<RepairedRun>;
}

/** The calls about repairs. */
export function createRepairs(rpc: Client<typeof RunService>, call: Caller): Repairs {
  return {
    async planRepair(runId: string, options: RepairOptions = {}): Promise<RepairPlan> {
      const request = { ...requestOf(runId, options), dryRun: true };
      return present((await call(rpc.repairRun, request)).plan);
    },
    repair: async (runId: string, options: RepairOptions = {}): Promise<RepairedRun> =>
      repairedOf(await call(rpc.repairRun, requestOf(runId, options))),
    retry: async (runId: string, options: RetryOptions = {}): Promise<RepairedRun> =>
      repairedOf(await call(rpc.retryRun, { ...identified(options), runId })),
  };
}

function requestOf(runId: string, options: RepairOptions) {
  const { input, inputJson, definition, outputs = [], fromEventId = 0, ...rest } = options;
  return {
    ...identified(rest),
    runId,
    fromEventId: BigInt(fromEventId),
    inputJson: bytesOf(input, inputJson) ?? new Uint8Array(),
    ...(definition === undefined ? {} : { definition: definitionOf(definition) }),
    outputs: outputs.map(({ nodeId, output, outputJson, handle = "" }) => ({
      ...{ nodeId, handle },
      outputJson: bytesOf(output, outputJson) ?? new Uint8Array(),
    })),
  };
}

const repairedOf = (answer: {
  readonly run?: Run | undefined;
  readonly plan?: RepairPlan | undefined;
  readonly duplicate: boolean;
}): RepairedRun => ({
  run: present(answer.run),
  plan: answer.plan,
  isDuplicate: answer.duplicate,
});
