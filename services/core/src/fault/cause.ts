// Why a node failed: every cause that Pawl itself gives, in one closed list. A cause is public: it is in the log, in `{error: {cause}}`
// behind an error handle, in metrics and in the docs.
//
// Code of users may fail with its own causes. A name that is not in the list is a user's, and Pawl forwards it unchanged. A name in the
// list has the meaning and the retry rule given here, also if code of a user reports it. Pawl never uses a dot in a cause, so a name such
// as `acme.card_declined` stays a user's in every later version.

import type { FailureClass } from "./class.ts";

export const RETRY_CAUSES = [
  "timeout",
  "provider_error",
  "rate_limit",
  "contract_violated",
] as const;
/** The causes that `retry_on` of a retry policy may name. */
export type RetryCause = (typeof RETRY_CAUSES)[number];

/** What Pawl knows about a cause. */
interface CauseRow {
  /** A full sentence for people. */
  readonly means: string;
  readonly class: FailureClass;
  /** The cause in `retry_on` that covers it. No policy retries a cause without it, even if the executor would allow it. */
  readonly retriedAs?: RetryCause;
}

/** The same work would fail again. */
const final = (means: string): CauseRow => ({ means, class: "permanent" });
/** Another attempt may succeed. */
const passing = (means: string, retriedAs: RetryCause): CauseRow => ({
  means,
  class: "retriable",
  retriedAs,
});
/** A limit of Pawl passed. */
const passed = (means: string, retriedAs?: RetryCause): CauseRow => ({
  means,
  class: "timeout",
  ...(retriedAs && { retriedAs }),
});

/** Every cause: its meaning, its class, and whether a policy may retry it. */
export const CAUSES = {
  timeout: passed("An attempt took longer than the limit of its node.", "timeout"),
  user_timeout: {
    means: "A time limit of the handler passed: its own, or that of a library it calls.",
    class: "user_timeout",
    retriedAs: "provider_error",
  },
  provider_error: passing(
    "A service that the node calls failed, or the handler threw an error.",
    "provider_error",
  ),
  rate_limit: passing("A service that the node calls refused more calls.", "rate_limit"),
  contract_violated: passing(
    "The handler returned something that is not a result.",
    "contract_violated",
  ),
  output_contract_violation: passing(
    "The output does not match the node's output contract.",
    "contract_violated",
  ),
  input_contract_violation: final("The input does not match the node's input contract."),
  cancelled: { means: "The attempt was cancelled.", class: "cancelled" },
  interrupted: { means: "A user interrupted the run. Its results hold.", class: "interrupt" },
  rolled_back: {
    means: "A user rolled the run back. Its results do not count.",
    class: "rollback",
  },
  set_failed: final("A handler set the run to failed."),
  undo_failed: final("A compensation did not complete, or the node has none."),
  deadline_passed: passed("The run took longer than its deadline."),
  delivery_exhausted: final("Too many executors died or fell silent while they held the node."),
  upstream_failure: final("A parent did not complete, and on_parent_failure is propagate."),
  effect_unknown: final(
    "An earlier attempt began an effect that must happen at most once, and its result is lost.",
  ),
  moderation_blocked: final("Moderation refused the input or the output."),
  moderation_unavailable: passing("The moderation service did not answer.", "provider_error"),
  approval_rejected: final("A person rejected the approval."),
  approval_timeout: passed("No person answered the approval in time."),
  signal_timeout: passed("The signal that the node waits for did not come in time."),
  rejected: final("A person rejected a node that an executor had put on hold."),
  child_failed: passing("The child run did not complete.", "provider_error"),
  workflow_not_found: final("The workflow of the child run does not exist."),
  too_deep: final("Child runs are nested too deeply."),
  item_failed: final("An iteration of the map or loop failed."),
  max_iterations: final(
    "The loop did not end within its iterations, or the run repeated too often.",
  ),
  turn_failed: final("A turn of the agent failed: its model gave no answer."),
  tool_failed: final("A tool of the agent failed, and its on_error is fail."),
  tool_call_invalid: final(
    "The model called a tool that the agent does not have, or with arguments that do not fit.",
  ),
  max_turns: final("The agent did not end within its turns."),
  conversation_too_large: final("The conversation of the agent does not fit into a request."),
  route_invalid: passing("The model of the supervisor named none of its routes.", "provider_error"),
  budget_exceeded: final("The run or the node needs more than its budget has left."),
  too_many_items: final("The map or loop has more items than allowed."),
  limit_key_invalid: final(
    "The key of a concurrency or rate limit could not be read from the context.",
  ),
  missing_variable: final("A template or condition reads a path that is empty."),
  config_invalid: final("The config is not valid once its templates are filled."),
  input_invalid: final("The input does not match the schema of the handler."),
  unknown_node_type: final("The executor has no handler for the node type."),
  unknown_provider: final("The executor has no model provider of that name."),
  unknown_data_source: final("The executor has no data source of that name."),
  condition_type: final("A condition compares or computes with values of the wrong type."),
  condition_too_costly: final("A condition loops over too many items."),
  context_too_large: final("The node's context does not fit into a message."),
  node_too_large: final("The node's definition does not fit into a message."),
  output_too_large: final("The output, or text made by templates, is too large."),
  value_missing: final("A stored value that the node reads or gives does not exist."),
  value_corrupt: final("A stored value that the node reads is not the value that was stored."),
  output_invalid: final("The output is not JSON that the log accepts."),
  action_invalid: final(
    "An action of the handler is unknown, not valid, or not possible in this run.",
  ),
  illegal_transition: final("The handler asked for a status that the run cannot get."),
  memory_too_large: final("The run's memory has no room for what the node writes."),
  taint_denied: final(
    "A policy forbids the node to read data with these labels, or a person refused to release it.",
  ),
  taint_invalid: final(
    "The handler added a label that is not valid, or the run has too many labels.",
  ),
  sanitize_failed: final("The value does not have the pattern that a sanitize node demands."),
  request_too_large: final("The request that the node would send is too large."),
  response_too_large: final("The response to the node's request is too large."),
  js_error: passing("The script threw an error.", "provider_error"),
  js_timeout: passed("The script ran longer than its limit.", "timeout"),
  js_killed: final("The script used too much memory and was stopped."),
  url_blocked: final("The node may not call that address."),
  header_injection: final("A header holds a line break or control character."),
  http_status: final("The server answered with a status that means failure."),
  query_error: final("The data source refused the query."),
  query_timeout: passed("The query took longer than its limit.", "provider_error"),
} as const satisfies Record<string, CauseRow>;

export type Cause = keyof typeof CAUSES;

/** Whether Pawl itself gives this cause. Any other cause is a user's. */
export const isCause = (text: string): text is Cause => Object.hasOwn(CAUSES, text);

/**
 * Spellings of earlier versions. Stored logs hold them, executors of an earlier version report them, and saved definitions
 * compare with them, so this table is never shortened.
 */
const OLD_SPELLINGS: Readonly<Record<string, Cause>> = {
  MISSING_VARIABLE: "missing_variable",
  CONFIG_INVALID: "config_invalid",
  UNKNOWN_NODE_TYPE: "unknown_node_type",
  UNKNOWN_PROVIDER: "unknown_provider",
  UNKNOWN_DATA_SOURCE: "unknown_data_source",
  CONDITION_TYPE: "condition_type",
  CONDITION_TOO_COSTLY: "condition_too_costly",
  TOO_MANY_ITEMS: "too_many_items",
  OUTPUT_TOO_LARGE: "output_too_large",
  RESULT_TOO_LARGE: "output_too_large",
  result_too_large: "output_too_large",
  OUTPUT_INVALID: "output_invalid",
  REQUEST_TOO_LARGE: "request_too_large",
  RESPONSE_TOO_LARGE: "response_too_large",
  JS_ERROR: "js_error",
  JS_TIMEOUT: "js_timeout",
  JS_KILLED: "js_killed",
  URL_BLOCKED: "url_blocked",
  HEADER_INJECTION: "header_injection",
};

/** The present spelling of a cause of any version. A user's own cause stays unchanged. */
export const currentCause = (text: string): string =>
  Object.hasOwn(OLD_SPELLINGS, text) ? (OLD_SPELLINGS[text] ?? text) : text;

/** The retry rule of a cause. A user's own cause counts as a fault of the provider. */
export function retryRuleOf(text: string): RetryCause | "never" {
  return rowOf(text)?.retriedAs ?? (isCause(currentCause(text)) ? "never" : "provider_error");
}

/** A failure with a class of its own: that of its cause, unless the handler made it final. */
export interface Classed {
  readonly cause: string;
  readonly failureClass?: FailureClass;
}

/** A failure as programs read it. */
export interface Failure {
  readonly cause: string;
  readonly failureClass: FailureClass;
  /** The details of the failure of a node, as JSON text. */
  readonly details?: string;
}

/** The class of a failure. A user's own cause is retriable. */
export const classOf = ({ cause, failureClass }: Classed): FailureClass =>
  failureClass ?? rowOf(cause)?.class ?? "retriable";

/** The class that a failure has, if it is not that of its cause: the handler says that no attempt can succeed. */
export const classField = (
  cause: string,
  isPermanent: boolean,
): { readonly failureClass?: FailureClass } =>
  isPermanent && classOf({ cause }) === "retriable" ? { failureClass: "permanent" } : {};

function rowOf(text: string): CauseRow | undefined {
  const cause = currentCause(text);
  return isCause(cause) ? CAUSES[cause] : undefined;
}

/** The old spellings that a definition compares with, by cause. */
export type CauseSpellings = Readonly<Partial<Record<Cause, string>>>;

const OLD_NAME = new RegExp(`\\b(?:${Object.keys(OLD_SPELLINGS).join("|")})\\b`, "g");

/**
 * The old spellings that the text of a definition names, or undefined if it names none. A condition or a script of an earlier version
 * compares `error.cause` with an old spelling. The node then writes that spelling, so the comparison still works. A text that names both
 * spellings gets the present one.
 */
export function oldSpellingsIn(text: string): CauseSpellings | undefined {
  const found: Partial<Record<Cause, string>> = {};
  for (const [old] of text.matchAll(OLD_NAME)) {
    const cause = OLD_SPELLINGS[old];
    if (cause !== undefined && !new RegExp(`\\b${cause}\\b`).test(text)) found[cause] ??= old;
  }
  return Object.keys(found).length === 0 ? undefined : found;
}
