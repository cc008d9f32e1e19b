// Assistants: workflows with fixed values, under an id of their own. A start reads the assistant, and the run copies what it needs.
//
// Race: a user deletes an assistant while runs of it start. The transaction that inserts a run locks the assistant against its deletion. The
// deletion marks the assistant in a transaction of its own, which locks it too and then looks for live runs. So either the deletion finds
// the run, or the insert finds the mark and fails (`AssistantMoved`). Behind the mark no run of it starts, and its runs are removed in
// steps. A scheduler that dies between two steps leaves the mark, and the next sweep continues.

import type { AskedBudget } from "@pawl/core/policy/budget";
import type { MultitaskStrategy } from "@pawl/core/log/start";
import type { RunId } from "@pawl/core/name/ids";
import { json, number, text, time, uuid } from "../../db/columns.ts";
import type { Typed } from "../../db/query.ts";
import type { Page } from "../page.ts";
import type { Removal } from "../runs/runs.ts";

export const ASSISTANT_KEY = { tenantId: text(), assistantId: text() };
export type AssistantKey = Typed<typeof ASSISTANT_KEY>;

/** What a start by an assistant gets if it does not set it. */
export interface StartDefaults {
  readonly goal?: string;
  readonly constraints?: readonly string[];
  readonly budget?: AskedBudget;
  readonly strategy?: MultitaskStrategy;
  /** Whether a run gives its thread up while it only waits for people or signals. */
  readonly yields?: boolean;
}

const WRITTEN = {
  workflowId: text(),
  /** 0 means the newest at each start. */
  workflowVersion: number(),
  /** JSON text: an object. */
  config: text(),
  /** JSON text: an object. */
  metadata: text(),
};
/** The part of an assistant that its author writes. */
export interface AssistantSpec extends Typed<typeof WRITTEN> {
  readonly defaults: StartDefaults;
}

/** The columns of an assistant. */
export const ASSISTANT = {
  ...ASSISTANT_KEY,
  ...WRITTEN,
  defaults: json<StartDefaults>(),
  version: number(),
  createdAt: time(),
  updatedAt: time(),
};
export type AssistantRecord = Typed<typeof ASSISTANT>;
export type AssistantPage = Page<AssistantRecord>;

/** The parameters of a statement that writes an assistant. */
export const SAVED_ASSISTANT = { ...ASSISTANT_KEY, ...WRITTEN, defaults: text() };

export interface AssistantFilter {
  /** JSON text: an object that the metadata contains. Empty means all. */
  readonly metadata: string;
  /** Empty means all. */
  readonly workflowId: string;
}

/** A run that this transaction inserts, and its assistant. */
export const ASSISTANT_RUN = { ...ASSISTANT_KEY, runId: uuid<RunId>() };
export type AssistantRun = Typed<typeof ASSISTANT_RUN>;

/** Assistants as users save and delete them. Only the scheduler writes them. */
export interface Assistants {
  /** The assistant, and whether this call created it. Undefined if it has the id of one that is being removed. */
  create(
    key: AssistantKey,
    spec: AssistantSpec,
  ): Promise<{ readonly assistant: AssistantRecord; readonly isNew: boolean } | undefined>;
  find(key: AssistantKey): Promise<AssistantRecord | undefined>;
  /** The assistant with the next version. Undefined if there is none of this version. */
  update(
    key: AssistantKey,
    spec: AssistantSpec,
    expectedVersion: number,
  ): Promise<AssistantRecord | undefined>;
  /** Some of its runs that have not ended. */
  liveRuns(key: AssistantKey): Promise<readonly RunId[]>;
  /** Marks an assistant without live runs as deleted. No run of it starts from then on. */
  close(key: AssistantKey): Promise<"closed" | "missing" | "busy">;
  /** Removes some runs of a closed assistant, and the assistant after the last of them. */
  removeSome(key: AssistantKey): Promise<Removal>;
  /** Closed assistants that are not removed yet. */
  closed(): Promise<readonly AssistantKey[]>;
}
