// Descriptions of the types that do work: code, calls, models and databases.

import type { NodeDocs } from "./node-docs.ts";

export const WORK_DOCS = {
  javascript: {
    purpose:
      "Runs code in a fresh isolate of a watched process: no network, no files, no modules. It may use `await`.",
    config: {
      code: "The body of a function of `ctx`, `input` and `log(message, level)`; never a template. Its return value is the output.",
      timeout_ms: "How long it may run; 30 s if absent, never longer than the node's own timeout.",
    },
    inputs: "As `input`.",
    output:
      "The return value of the code, as JSON; `null` if it returns nothing. NaN, Infinity, and a function or symbol that JSON would write as `null` fail the node with `js_error`. A retry policy tries a throw (`js_error`, as `provider_error`) and a script that runs too long (`js_timeout`, as `timeout`) again.",
    events: "`node.log` for every line it logs.",
    causes: ["js_error", "js_timeout", "js_killed", "output_too_large", "output_invalid"],
    example: `- id: price
  type: javascript
  config: { code: "return { total: ctx.input.amount * 1.2 };" }`,
  },
  http: {
    purpose:
      "One outbound request. Private addresses are refused unless the executor allows them, redirects are checked again, and every attempt carries the same idempotency key.",
    config: {
      url: "http or https; a template may give it.",
      method: "The method.",
      headers: "Headers by name.",
      query: "Parameters added to the address.",
      body: "A text is sent unchanged, any other JSON as JSON. Not sent with GET and HEAD.",
      timeout_ms: "How long the call may take; 30 s if absent.",
      effect:
        "`idempotent`: made again under the same key until its result is known; the default for all but GET and HEAD. `at_most_once`: never made again once begun; then the node fails with `effect_unknown`. `none`: no record. See [Effects](../guides/retries-and-effects.md#effects).",
      idempotency_key_header: "Which header carries the key; `idempotency-key` if absent.",
    },
    inputs: "In templates.",
    output: "`{status, headers, body}`; the body is parsed when it is JSON.",
    causes: [
      "provider_error",
      "rate_limit",
      "timeout",
      "http_status",
      "effect_unknown",
      "url_blocked",
      "header_injection",
      "request_too_large",
      "response_too_large",
    ],
    example: `- id: order
  type: http
  retry: standard
  config:
    url: https://api.example.com/orders
    method: POST
    body: { name: "{{ ctx.input.name }}" }`,
  },
  llm: {
    purpose:
      "Asks a model and streams its answer. Models `offline/…` need no provider: see [Models](../guides/models-and-databases.md#models).",
    config: {
      provider: "A provider of the executor's configuration; its default one if absent.",
      model: "The model, by the provider's name for it.",
      system: "The system message.",
      prompt: "The question. Either this or `messages`.",
      messages: "A whole conversation: `{role, content}` each.",
      temperature: "Passed on.",
      max_tokens: "Passed on.",
      tools: "Tool declarations, passed on unchanged; calls come out in `tool_calls`.",
      response_format: "`json` asks for JSON and gives it parsed as `json`.",
      stream: "False asks for the whole answer at once.",
      timeout_ms: "How long the answer may take; the provider's limit if absent.",
    },
    inputs: "In templates.",
    output:
      "`{text, tool_calls, usage: {input_tokens, output_tokens}, finish_reason, media}`, and `json` if `response_format` is `json`.",
    events: "`node.stream.delta` for every piece of text or media; `node.completed` has `usage`.",
    causes: ["provider_error", "rate_limit", "timeout", "unknown_provider"],
    example: `- id: answer
  type: llm
  retry: standard
  config: { model: "offline/echo", prompt: "Say hello to {{ ctx.input.name }}" }`,
  },
  dataQuery: {
    purpose:
      "One SQL statement on a PostgreSQL that the executor's configuration names: see [Databases](../guides/models-and-databases.md#databases).",
    config: {
      source: "The name of the database.",
      sql: "One statement, never a template; values are `$1`, `$2`, …",
      parameters: "The values, which may be templates.",
      max_rows: "How many rows at most; not more than the source allows.",
      untrusted:
        "True gives the rows the label `data`: others can write what the source holds. See [Untrusted data](../guides/taint.md).",
      effect:
        "`transactional`, the default where the source may write: a statement that wrote is recorded in its own database and transaction, and happens once. `none`: no record. See [Effects](../guides/retries-and-effects.md#effects).",
      timeout_ms: "How long the statement may take; the source's limit if absent.",
    },
    inputs: "In the templates of `parameters`.",
    output: "`{rows, row_count, truncated, fields}`",
    causes: [
      "provider_error",
      "query_timeout",
      "query_error",
      "unknown_data_source",
      "output_too_large",
    ],
    example: `- id: orders
  type: dataQuery
  config:
    source: shop
    sql: select id, cents from orders where city = $1
    parameters: ["{{ ctx.input.city }}"]`,
  },
} satisfies Partial<NodeDocs>;
