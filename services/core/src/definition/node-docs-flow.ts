// Descriptions of the node types that shape a run: its ends, its branches, waiting, repetition and nesting.

import type { NodeDocs } from "./node-docs.ts";

export const FLOW_DOCS = {
  start: {
    purpose:
      "Begins the run and passes its input on. It is optional: without it, the nodes that no edge leads to begin the run. No edge leads to it.",
    config: {},
    inputs:
      "The run's input. An input contract on it is the contract of the whole workflow; the first of its `examples` is the input that the console suggests.",
    output: "`{started: true, inputReceived: <the run's input>}`",
    causes: ["input_contract_violation"],
    example: `- id: start
  type: start
  contracts:
    input: { type: object, required: [name], examples: [{ name: Ada }] }`,
  },
  end: {
    purpose: "Collects the run's output. Nothing leaves it; a workflow may have several, or none.",
    config: {
      output_parameters:
        "The output, with templates. Without it: its parameters, else its only parent's output, else its parents' outputs by node id.",
    },
    inputs: "Parameters, where `output_parameters` is absent.",
    output: "The run's output.",
    handles: "None.",
    causes: ["missing_variable"],
    example: `- id: end
  type: end
  config: { output_parameters: { greeting: "Hello, {{ ctx.input.name }}" } }`,
  },
  condition: {
    purpose: "Leaves by the first branch whose expression is truthy.",
    config: {
      branches:
        "`{id, when}` each: `when` is CEL over `ctx` and `input`, no template; false, null, 0 and empty text are false, all else is true. `id` is the handle.",
    },
    inputs: "As `input` in the expressions.",
    output: "`{branch: <id>}`",
    handles: "The `id` of the branch; `else` if none is truthy.",
    events: "`node.skipped` for the nodes behind branches that are not taken.",
    causes: ["condition_type", "condition_too_costly"],
    example: `- id: large
  type: condition
  config: { branches: [{ id: yes, when: "ctx.input.amount > 100" }] }`,
  },
  delay: {
    purpose: "Delays the nodes that follow. Meanwhile it uses no executor and no timer.",
    config: { delay_ms: "How long: a number, or a template that gives one." },
    inputs: "In the template only.",
    output: "`{delayMs}`",
    events: "`node.queued` of the nodes that follow has `notBefore`.",
    causes: ["missing_variable", "config_invalid"],
    example: `- id: pause
  type: delay
  config: { delay_ms: 1000 }`,
  },
  remember: {
    purpose: "Writes keys of the run's memory, which every later node can read.",
    config: { values: "The values by key: any JSON, with templates." },
    inputs: "In the templates only.",
    output: "The values that it wrote, by key.",
    causes: ["missing_variable", "memory_too_large"],
    example: `- id: note
  type: remember
  config: { values: { customer: "{{ ctx.input.name }}", stage: "checked" } }`,
  },
  sanitize: {
    purpose:
      "Passes a value on without some of its [labels](../guides/taint.md). Put the check before it, or demand a pattern, or a `contracts.output`.",
    config: {
      value: "The value: any JSON, with templates.",
      drop: 'The labels that the output does not have: a list, or `["*"]` for all.',
      reason: "Why the labels may go. The log keeps it.",
      pattern:
        "[RE2](https://github.com/google/re2/wiki/Syntax). The value must be a text in which it occurs; write `^…$` for the whole text.",
    },
    inputs: "In the templates of `value`.",
    output: "The value.",
    events: "`node.completed` has the labels that it dropped, and the reason.",
    causes: ["missing_variable", "sanitize_failed"],
    example: `- id: checked
  type: sanitize
  config:
    value: "{{ ctx.input.iban }}"
    drop: [input]
    reason: "an IBAN has only letters and digits"
    pattern: "^[A-Z]{2}[0-9]{2}[A-Z0-9]{11,30}$"`,
  },
  map: {
    purpose: "Runs its body once for every item, some at a time, and joins the results in order.",
    config: {
      items: "A list, or a template that gives one.",
      body: "A node without id: `{type, config, retry, timeout_ms}`. It sees `item` and `index` (from 0); a script `ctx.item`, `ctx.index`.",
      parallelism: "How many items run at once.",
      on_item_failure:
        "`fail` ends the map with the first item that fails for good; `continue` runs the others, and the result of the failed item is null.",
    },
    inputs: "As `input`, also in the body.",
    output: "The outputs of the items as a list.",
    handles: "`loop` when there were items, `done` when there were none.",
    events: "`node.expanded`, then every event of a node for each iteration (from 1).",
    causes: ["item_failed", "too_many_items", "output_too_large"],
    example: `- id: each
  type: map
  config:
    items: "{{ ctx.input.names }}"
    parallelism: 4
    body: { type: javascript, config: { code: "return ctx.item.length" } }`,
  },
  loop: {
    purpose:
      "Runs its body again and again, one iteration after the other: over items, a number of times, or until a condition holds.",
    config: {
      items: "A list, or a template that gives one. Not together with `times`.",
      times: "How often: a number, or a template that gives one.",
      body: "As in a `map`; it also sees `previous`, the output of the iteration before.",
      until:
        "CEL, evaluated after each iteration; `output` is the output of that iteration. At least one of `items`, `times` and `until` is required.",
      max_iterations: "After so many iterations the node fails.",
    },
    inputs: "As `input`, also in the body.",
    output: "The outputs of the iterations as a list.",
    handles: "`loop` when there were iterations, `done` when there were none.",
    events: "`node.expanded`, then every event of a node for each iteration (from 1).",
    causes: ["item_failed", "max_iterations", "too_many_items", "output_too_large"],
    example: `- id: poll
  type: loop
  config:
    until: output.ready
    max_iterations: 20
    body: { type: javascript, config: { code: "return { ready: ctx.index > 2 }" } }`,
  },
  subworkflow: {
    purpose:
      "A run of another saved workflow. The node waits for it without using an executor; if one of the two is cancelled, so is the other.",
    config: {
      workflow_id: "Which workflow.",
      version: "Which version of it; the newest one if absent.",
      input: "The input of that run, any JSON with templates; the node's parameters if absent.",
    },
    inputs: "The input of the run, where `input` is absent.",
    output: "The output of that run.",
    events: "`node.blocked` with the id of the run it waits for.",
    causes: ["child_failed", "missing_variable"],
    example: `- id: nested
  type: subworkflow
  config: { workflow_id: hello, input: { name: "{{ ctx.input.name }}" } }`,
  },
  approval: {
    purpose:
      "Asks a person and waits, for days if necessary, without an executor, a lease or a job. The time does not count against the run's deadline.",
    config: {
      message: "The question, with templates.",
      details: "Any JSON for the person who decides, with templates.",
      response_schema:
        "JSON Schema 2020-12 that the response must match, under the rules of contracts. No template. Without it, any response is accepted, or none.",
      assignees:
        "Free texts, with templates, by which people find their approvals (`pawl approval list --assignee …`).",
      deadline_ms: "How long it stays open; without a limit if absent.",
      on_deadline:
        "`fail` fails the node, unless an edge leaves by `timeout`; `default` approves it with `default`.",
      default: "The response if no person answers in time; it must match the schema. No template.",
    },
    inputs: "As `input` in the templates.",
    output:
      "`{decision, response, comment, decidedBy, approvalId}`; `decision` is `approved`, `rejected`, `timed_out`, or `default` if no person answered and the config has a default.",
    handles:
      "`approved`, also for edges without a handle; `rejected` and `timeout`. Without an edge for its handle, a rejected or timed-out approval fails the node.",
    events:
      "`node.blocked` with the reason `approval`, `node.decided`; `run.status.changed` when nothing else runs.",
    causes: ["approval_rejected", "approval_timeout"],
    example: `- id: ask
  type: approval
  config:
    message: "Refund {{ ctx.input.amount }} EUR to {{ ctx.input.customer }}?"
    details: { order: "{{ ctx.input.order }}" }
    assignees: [finance]
    deadline_ms: 86400000
    response_schema: { type: object, properties: { amount: { type: number, minimum: 0 } } }`,
  },
  await_signal: {
    purpose:
      "Waits for a signal: a named message that a caller sends to the run with `SignalRun`. It uses no executor, lease or job. The time does not count against the run's deadline. A signal that came earlier ends the wait at once.",
    config: {
      name: "The name of the signal: letters, digits, `.`, `_` and `-`; a template may give it.",
      timeout_ms: "How long the node waits; without a limit if absent.",
      schema:
        "JSON Schema 2020-12 that the payload must match, under the rules of contracts. No template. Without it, any payload is accepted, or none.",
    },
    inputs: "As `input` in the template.",
    output:
      "`{name, payload, receivedAt}`; `receivedAt` is a time in milliseconds since 1970. After a timeout, `payload` and `receivedAt` are null.",
    handles:
      "`received`, also for edges without a handle; `timeout`. Without an edge by `timeout`, a node whose time is up fails.",
    events:
      "`node.blocked` with the reason `signal`; `run.signalled` for the signal; `run.status.changed` when nothing else runs.",
    causes: ["signal_timeout", "input_contract_violation", "missing_variable", "config_invalid"],
    example: `- id: paid
  type: await_signal
  config:
    name: "payment.{{ ctx.input.order }}"
    timeout_ms: 86400000
    schema: { type: object, required: [amount], properties: { amount: { type: number } } }`,
  },
  noop: {
    purpose: "Completes at once: a place where edges meet.",
    config: {},
    inputs: "Its parameters are not read.",
    output: "`{}`",
    causes: [],
    example: `- id: meet
  type: noop`,
  },
  text_stream: {
    purpose: "Streams a text in pieces: streaming without a model.",
    config: {
      text: "The text.",
      chunk_chars: "Characters of one piece.",
      interval_ms: "Wait between two pieces.",
    },
    inputs: "In the template only.",
    output: "`{text}`",
    events: "`node.stream.delta` for every piece.",
    causes: ["missing_variable"],
    example: `- id: letter
  type: text_stream
  config: { text: "Dear {{ ctx.input.name }}, welcome.", interval_ms: 50 }`,
  },
} satisfies Partial<NodeDocs>;
