// Why a node failed: every cause that Pawl itself gives, in one closed list. A cause is public: it is in the log, in `{error: {cause}}`
// behind an error handle, in metrics and in the docs.
//
// Code of users may fail with its own causes. A name that is not in the list is a user's, and Pawl forwards it unchanged. A name in the
// list has the meaning and the retry rule given here, also if code of a user reports it. Pawl never uses a dot in a cause, so a name such
// as `acme.card_declined` stays a user's in every later version.

export const RETRY_CAUSES = [
  "timeout",
  "provider_error",
  "rate_limit",
  "contract_violated",
] as const;
/** The causes that `retry_on` of a retry policy may name. */
export type RetryCause = (typeof RETRY_CAUSES)[number];

/** Every cause and its meaning: a full sentence for people. */
export const CAUSES = {
  timeout: "An attempt took longer than its limit.",
  provider_error: "A service that the node calls failed, or the handler threw an error.",
  rate_limit: "A service that the node calls refused more calls.",
  contract_violated: "The handler returned something that is not a result.",
  output_contract_violation: "The output does not match the node's output contract.",
  input_contract_violation: "The input does not match the node's input contract.",
  cancelled: "The attempt was cancelled.",
  delivery_exhausted: "Too many executors died or fell silent while they held the node.",
  upstream_failure: "A parent did not complete, and on_parent_failure is propagate.",
  effect_unknown:
    "An earlier attempt began an effect that must happen at most once, and its result is lost.",
  moderation_blocked: "Moderation refused the input or the output.",
  moderation_unavailable: "The moderation service did not answer.",
  approval_rejected: "A person rejected the approval.",
  approval_timeout: "No person answered the approval in time.",
  signal_timeout: "The signal that the node waits for did not come in time.",
  rejected: "A person rejected a node that an executor had put on hold.",
  child_failed: "The child run did not complete.",
  workflow_not_found: "The workflow of the child run does not exist.",
  too_deep: "Child runs are nested too deeply.",
  item_failed: "An iteration of the map or loop failed.",
  max_iterations: "The loop did not end within its iterations, or the run repeated too often.",
  turn_failed: "A turn of the agent failed: its model gave no answer.",
  tool_failed: "A tool of the agent failed, and its on_error is fail.",
  tool_call_invalid:
    "The model called a tool that the agent does not have, or with arguments that do not fit.",
  max_turns: "The agent did not end within its turns.",
  conversation_too_large: "The conversation of the agent does not fit into a request.",
  route_invalid: "The model of the supervisor named none of its routes.",
  budget_exceeded: "The run or the node needs more than its budget has left.",
  too_many_items: "The map or loop has more items than allowed.",
  limit_key_invalid: "The key of a concurrency or rate limit could not be read from the context.",
  missing_variable: "A template or condition reads a path that is empty.",
  config_invalid: "The config is not valid once its templates are filled.",
  input_invalid: "The input does not match the schema of the handler.",
  unknown_node_type: "The executor has no handler for the node type.",
  unknown_provider: "The executor has no model provider of that name.",
  unknown_data_source: "The executor has no data source of that name.",
  condition_type: "A condition compares or computes with values of the wrong type.",
  condition_too_costly: "A condition loops over too many items.",
  context_too_large: "The node's context does not fit into a message.",
  node_too_large: "The node's definition does not fit into a message.",
  output_too_large: "The output, or text made by templates, is too large.",
  value_missing: "A stored value that the node reads or gives does not exist.",
  value_corrupt: "A stored value that the node reads is not the value that was stored.",
  output_invalid: "The output is not JSON that the log accepts.",
  action_invalid: "An action of the handler is unknown, not valid, or not possible in this run.",
  illegal_transition: "The handler asked for a status that the run cannot get.",
  memory_too_large: "The run's memory has no room for what the node writes.",
  taint_denied:
    "A policy forbids the node to read data with these labels, or a person refused to release it.",
  taint_invalid: "The handler added a label that is not valid, or the run has too many labels.",
  sanitize_failed: "The value does not have the pattern that a sanitize node demands.",
  request_too_large: "The request that the node would send is too large.",
  response_too_large: "The response to the node's request is too large.",
  js_error: "The script threw an error.",
  js_timeout: "The script ran longer than its limit.",
  js_killed: "The script used too much memory and was stopped.",
  url_blocked: "The node may not call that address.",
  header_injection: "A header holds a line break or control character.",
  http_status: "The server answered with a status that means failure.",
  query_error: "The data source refused the query.",
  query_timeout: "The query took longer than its limit.",
} as const satisfies Record<string, string>;

export type Cause = keyof typeof CAUSES;

/** The cause in `retry_on` that covers a cause. No policy retries a cause without an entry, even if the executor would allow it. */
const RETRIED_AS: Readonly<Partial<Record<Cause, RetryCause>>> = {
  timeout: "timeout",
  provider_error: "provider_error",
  rate_limit: "rate_limit",
  contract_violated: "contract_violated",
  output_contract_violation: "contract_violated",
  moderation_unavailable: "provider_error",
  child_failed: "provider_error",
  js_error: "provider_error",
  js_timeout: "timeout",
  route_invalid: "provider_error",
  query_timeout: "provider_error",
};

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
  const cause = currentCause(text);
  return isCause(cause) ? (RETRIED_AS[cause] ?? "never") : "provider_error";
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
