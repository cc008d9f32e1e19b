// Runs by page, and what they are found by: their metadata, and filters that are kept under a name.

import type { Client } from "@connectrpc/connect";
import type { Run, RunKind, RunStatus, StopMode } from "@pawl/proto/pawl/v1/run_pb";
import type { RunFilter, RunService } from "@pawl/proto/pawl/v1/run_service_pb";
import {
  type Caller,
  identified,
  type MutationOptions,
  type Page,
  type PageOptions,
  pick,
} from "./caller.ts";
import { bytesOf, type Json } from "./json.ts";

export interface ListRunsOptions extends PageOptions {
  readonly statuses?: readonly RunStatus[] | undefined;
  readonly workflowId?: string | undefined;
  readonly kind?: RunKind | undefined;
  /** Only runs that this schedule started. */
  readonly scheduleId?: string | undefined;
  /** Only runs of this thread. */
  readonly threadId?: string | undefined;
  /** Only runs of this assistant. */
  readonly assistantId?: string | undefined;
  /** Of cancelled runs, only those that were stopped in one of these ways. */
  readonly stops?: readonly StopMode[] | undefined;
  /** A filter such as `status = failed AND metadata.team = "billing"`. */
  readonly filter?: string | undefined;
  /** The name of a kept filter, which must hold as well. */
  readonly savedFilter?: string | undefined;
  /** The beginning of a workflow id, of words of its title or of a run id, or the last eight digits of a run id. */
  readonly query?: string | undefined;
}

export type RunPage = Page<"runs", Run>;

export interface Filters {
  /** A page of runs, newest first, without inputs, outputs and nodes. */
  list(options?: ListRunsOptions): Promise<RunPage>;
  /**
   * Merges a change into the metadata of a live run: objects merge, null deletes a key. A repeat is harmless.
   * @throws PawlError RUN_ALREADY_FINISHED
   */
  updateMetadata(runId: string, metadata: Json, options?: MutationOptions): Promise<Run>;
  /** Keeps a filter under a name, in place of the one that has the name. @throws PawlError FILTER_INVALID */
  saveFilter(name: string, filter: string, options?: MutationOptions): Promise<RunFilter>;
  /** A page of the kept filters, by name. */
  filters(options?: PageOptions): Promise<Page<"runFilters", RunFilter>>;
  /** Deletes a kept filter. @throws PawlError RUN_FILTER_NOT_FOUND */
  deleteFilter(name: string, options?: MutationOptions): Promise<void>;
}

export const createFilters = (rpc: Client<typeof RunService>, call: Caller): Filters => ({
  list: (options = {}) => call(rpc.listRuns, options),
  updateMetadata: (runId, metadata, options) => {
    const request = { ...identified(options), runId, metadataJson: bytesOf(metadata, undefined) };
    return pick(call(rpc.updateRunMetadata, request), "run");
  },
  saveFilter: (name, filter, options) =>
    pick(call(rpc.saveRunFilter, { ...identified(options), name, filter }), "runFilter"),
  filters: (options = {}) => call(rpc.listRunFilters, options),
  async deleteFilter(name, options) {
    await call(rpc.deleteRunFilter, { ...identified(options), name });
  },
});
