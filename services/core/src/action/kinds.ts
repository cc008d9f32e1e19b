// The kinds of actions as types alone, without their schemas. The log holds actions, and clients are packed with the log and without zod.

import type { MergeStrategy } from "../data/merge.ts";

/** The fields of each kind. JSON is text. An empty text and 0 mean that the handler gave nothing. */
interface ActionFields {
  readonly update_memory: { readonly valuesJson: string };
  readonly set_status: {
    readonly status: string;
    readonly message: string;
    readonly outputJson: string;
  };
  readonly goto_node: { readonly node: string; readonly reason: string };
  readonly handoff: {
    readonly node: string;
    readonly workflow: string;
    readonly version: number;
    readonly inputJson: string;
    readonly reason: string;
  };
  readonly request_human_input: {
    readonly message: string;
    readonly detailsJson: string;
    readonly assignees: string[];
    readonly deadlineMs: number;
  };
  readonly resume_from_human: {
    readonly node: string;
    readonly iteration: number;
    readonly approvalId: string;
    readonly decision: "approve" | "reject";
    readonly responseJson: string;
    readonly comment: string;
  };
  readonly merge_parallel_results: {
    readonly keys: string[];
    readonly nodes: string[];
    readonly into: string;
    readonly strategy: MergeStrategy;
  };
}

export type ActionType = keyof ActionFields;
export type ActionOf<T extends ActionType> = { readonly type: T } & ActionFields[T];
export type Action = { [T in ActionType]: ActionOf<T> }[ActionType];
