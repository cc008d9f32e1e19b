// Bulks: one action on all runs that a filter finds.

import type { Client } from "@connectrpc/connect";
import {
  BulkAction as WireAction,
  type Bulk,
  type BulkOptions as WireOptions,
  type BulkOutcome,
  type BulkPreview,
  type BulkRun,
  type BulkService,
  BulkState,
  type GetBulkResponse,
} from "@pawl/proto/pawl/v1/bulk_service_pb";
import type { Clock } from "./backoff.ts";
import {
  type Caller,
  identified,
  type MutationOptions,
  type Page,
  type PageOptions,
  type PawlCallOptions,
  pick,
  present,
} from "./caller.ts";

/** What a bulk does to each run. */
export type BulkAction = "cancel" | "pause" | "resume" | "retry" | "repair" | "redrive" | "delete";

const ACTIONS: Readonly<Record<BulkAction, WireAction>> = {
  cancel: WireAction.CANCEL,
  pause: WireAction.PAUSE,
  resume: WireAction.RESUME,
  retry: WireAction.RETRY,
  repair: WireAction.REPAIR,
  redrive: WireAction.REDRIVE,
  delete: WireAction.DELETE,
};

/** Which runs. One of the two must be given; if both are, both must hold. */
export interface BulkSelection {
  readonly filter?: string | undefined;
  /** The name of a kept filter. */
  readonly savedFilter?: string | undefined;
}

/** How a bulk acts; an absent field takes the default of the server. */
type BulkChoices = {
  readonly [Name in Exclude<keyof WireOptions, `$${string}`>]?: WireOptions[Name] | undefined;
};

export interface StartBulkOptions extends BulkSelection, BulkChoices, MutationOptions {}
export interface PreviewBulkOptions extends BulkSelection, BulkChoices, PawlCallOptions {}

export interface ListBulkRunsOptions extends PageOptions {
  /** Only runs with one of these outcomes. */
  readonly outcomes?: readonly BulkOutcome[] | undefined;
}

export interface StopBulkOptions extends MutationOptions {
  readonly reason?: string | undefined;
}

export type BulkPage = Page<"bulks", Bulk>;
export type BulkRunPage = Page<"runs", BulkRun>;

export interface Bulks {
  /** Begins to act on the runs that the filter finds now. @throws PawlError FILTER_INVALID, LIMIT_EXCEEDED */
  start(action: BulkAction, options: StartBulkOptions): Promise<Bulk>;
  /** Shows what a bulk would do, and changes nothing. */
  preview(action: BulkAction, options: PreviewBulkOptions): Promise<BulkPreview>;
  /** A bulk with its progress, and why runs failed or were skipped. @throws PawlError BULK_NOT_FOUND */
  get(
    bulkId: string,
    options?: PawlCallOptions,
  ): Promise<Pick<GetBulkResponse, "reasons"> & { readonly bulk: Bulk }>;
  /** A page of bulks, newest first. */
  list(options?: PageOptions): Promise<BulkPage>;
  /** A page of the runs of a bulk, with what happened to each. @throws PawlError BULK_NOT_FOUND */
  runs(bulkId: string, options?: ListBulkRunsOptions): Promise<BulkRunPage>;
  /** Lets a bulk act on the runs behind its canary. @throws PawlError BULK_NOT_FOUND, BULK_NOT_WAITING */
  continue(bulkId: string, options?: MutationOptions): Promise<Bulk>;
  /** Ends a bulk. Runs that it has not begun stay as they are. @throws PawlError BULK_NOT_FOUND */
  stop(bulkId: string, options?: StopBulkOptions): Promise<Bulk>;
  /** The bulk again and again, until it has ended or waits for `continue`. */
  follow(bulkId: string, options?: PawlCallOptions): AsyncGenerator<Bulk, void>;
}

/** How often a bulk is read while a caller follows it. */
const FOLLOW_MS = 500;

export function createBulks(rpc: Client<typeof BulkService>, call: Caller, clock: Clock): Bulks {
  const get: Bulks["get"] = async (bulkId, options) => {
    const { bulk, reasons } = await call(rpc.getBulk, { ...options, bulkId });
    return { bulk: present(bulk), reasons };
  };
  return {
    start: (action, options) =>
      pick(call(rpc.startBulk, startRequest(action, identified(options))), "bulk"),
    preview: (action, options) =>
      pick(call(rpc.startBulk, { ...startRequest(action, options), dryRun: true }), "preview"),
    get,
    list: (options = {}) => call(rpc.listBulks, options),
    runs: (bulkId, options) => call(rpc.listBulkRuns, { ...options, bulkId }),
    continue: (bulkId, options) =>
      pick(call(rpc.continueBulk, { ...identified(options), bulkId }), "bulk"),
    stop: (bulkId, options) => pick(call(rpc.stopBulk, { ...identified(options), bulkId }), "bulk"),
    async *follow(bulkId, { signal } = {}) {
      for (;;) {
        const { bulk } = await get(bulkId, { signal });
        yield bulk;
        if (bulk.endTime !== undefined || bulk.state === BulkState.WAITING) return;
        await clock.pause(FOLLOW_MS, signal);
        if (signal?.aborted === true) return;
      }
    },
  };
}

/** The fields of a start beside the options of the bulk. */
function startRequest(action: BulkAction, asked: StartBulkOptions) {
  const { filter, savedFilter, requestId, signal, ...options } = asked;
  return {
    ...{ filter, savedFilter, requestId, signal, action: ACTIONS[action] },
    // Protobuf uses the default for an undefined field.
    options: options as unknown as WireOptions,
  };
}
