// The actions of one invocation, in the order in which the handler asks for them. They commit with its output: a handler that fails, or
// that is cancelled, has done none of them.

import { parseActions } from "../action/action.ts";
import type { Action } from "../action/kinds.ts";
import { STORED_LIMITS } from "../data/json.ts";
import type { MergeStrategy } from "../data/merge.ts";
import { joinObject } from "../data/split-array.ts";
import { Failed, failure, type HandlerFailure } from "./failure.ts";

/** The statuses that a handler may give its run. */
export type SetStatus = "completed" | "failed" | "cancelled" | "paused";

/** Either a node of the same run, or a workflow whose run the node waits for. */
export type HandOff = { readonly reason?: string } & (
  | { readonly node: string }
  | {
      readonly workflow: string;
      /** The current one if absent. */
      readonly version?: number;
      /** The output of the handler if absent. */
      readonly input?: unknown;
    }
);

export interface HumanQuestion {
  readonly message: string;
  /** Any JSON for the person who answers; the output of the handler if absent. */
  readonly details?: unknown;
  /** Names by which people find their questions. */
  readonly assignees?: readonly string[];
  /** How long the question stays open; without a limit if absent. */
  readonly deadlineMs?: number;
}

/** The answer to a question of another node of the same run. */
export type HumanAnswer = {
  readonly decision: "approve" | "reject";
  readonly response?: unknown;
  readonly comment?: string;
} & (
  | { readonly node: string; /** 0 outside of a map or loop. */ readonly iteration?: number }
  | { readonly approvalId: string }
);

export type MergeResults = {
  /** The key of the memory that gets the result. */
  readonly into: string;
  readonly strategy: MergeStrategy;
} & ({ readonly keys: readonly string[] } | { readonly nodes: readonly string[] });

/** What a handler may ask of the engine beside its output. */
export interface Asks {
  /** Writes a key of the run's memory when the handler completes. The last value of a key counts. */
  readonly remember: (key: string, value: unknown) => void;
  /** Ends or pauses the run when the handler completes. */
  readonly setStatus: (
    status: SetStatus,
    options?: { readonly message?: string; readonly output?: unknown },
  ) => void;
  /** Runs another node next. */
  readonly goto: (node: string, reason?: string) => void;
  /** Gives the work to a node, or to a workflow whose output becomes the output of this node. */
  readonly handOff: (to: HandOff) => void;
  /** Asks a person when the handler completes. The answer becomes the output of the node. */
  readonly askHuman: (question: HumanQuestion) => void;
  /** Answers the question of another node. */
  readonly answerHuman: (answer: HumanAnswer) => void;
  /** Merges values of the memory, or outputs of nodes, into one key of the memory. */
  readonly mergeResults: (merge: MergeResults) => void;
}

/** Collects the actions of one invocation. */
export class Acts {
  readonly #actions: Action[] = [];
  readonly #values = new Map<string, string>();

  /** The functions of the context. */
  readonly asks: Asks = {
    remember: (key, value) => void this.#values.set(key, jsonOf(value, `memory.${key}`)),
    setStatus: (status, { message = "", output } = {}) =>
      this.#push({
        type: "set_status",
        status,
        message,
        outputJson: optionalJson(output, "output"),
      }),
    goto: (node, reason = "") => this.#push({ type: "goto_node", node, reason }),
    handOff: ({ reason = "", ...to }) => {
      const none = { node: "", workflow: "", version: 0, inputJson: "" };
      const target = "node" in to ? to : { ...to, inputJson: optionalJson(to.input, "input") };
      const { input: _input, ...given }: typeof target & { readonly input?: unknown } = target;
      this.#push({ type: "handoff", reason, ...none, ...given });
    },
    askHuman: ({ message, details, assignees = [], deadlineMs = 0 }) =>
      this.#push({
        ...{ type: "request_human_input", message, deadlineMs },
        detailsJson: optionalJson(details, "details"),
        assignees: [...assignees],
      }),
    answerHuman: ({ decision, response, comment = "", ...to }) =>
      this.#push({
        ...{ type: "resume_from_human", node: "", iteration: 0, approvalId: "" },
        ...{ ...to, decision, comment },
        responseJson: optionalJson(response, "response"),
      }),
    mergeResults: ({ into, strategy, ...from }) => {
      const lists = {
        keys: "keys" in from ? from.keys : [],
        nodes: "nodes" in from ? from.nodes : [],
      };
      const { keys, nodes } = lists;
      this.#push({
        type: "merge_parallel_results",
        into,
        strategy,
        keys: [...keys],
        nodes: [...nodes],
      });
    },
  };

  #push(action: Action): void {
    this.#actions.push(action);
  }

  /** The actions of a handler that returned, or the failure of one that cannot be done. */
  end(): { readonly actions?: readonly Action[] } | HandlerFailure {
    const isEmpty = this.#actions.length === 0 && this.#values.size === 0;
    if (isEmpty) return {};
    // The memory comes first, so that a merge sees what the handler wrote.
    const valuesJson = joinObject(this.#values);
    const written: Action[] =
      this.#values.size === 0 ? [] : [{ type: "update_memory", valuesJson }];
    const parsed = parseActions([...written, ...this.#actions], STORED_LIMITS);
    return parsed.ok
      ? { actions: parsed.actions }
      : failure(parsed.cause, parsed.message, { permanent: true });
  }
}

const optionalJson = (value: unknown, what: string): string =>
  value === undefined ? "" : jsonOf(value, what);

/** JSON text. JSON would write null for a number that is not finite, and nothing for a function: both are refused. */
function jsonOf(value: unknown, what: string): string {
  const json = JSON.stringify(value, (key, each: unknown) => {
    if (typeof each === "number" && !Number.isFinite(each))
      throw unfit(what, `${each} at ${JSON.stringify(key)} is no JSON`);
    return each;
  });
  if (json === undefined) throw unfit(what, `a value of type ${typeof value} is no JSON`);
  return json;
}

const unfit = (what: string, why: string): Failed =>
  new Failed("action_invalid", `${what}: ${why}`, { permanent: true });
