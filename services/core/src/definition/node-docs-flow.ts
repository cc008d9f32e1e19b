// Words about the types that shape a run: its ends, its branches, waiting, repetition and nesting.

import type { NodeDocs } from "./node-docs.ts";

const NO_INPUT = "Its parameters are not read.";
const NO_EVENTS = "None.";
const PLAIN = "Edges without a handle.";

type Flow =
  | "start"
  | "end"
  | "condition"
  | "delay"
  | "map"
  | "loop"
  | "subworkflow"
  | "approval"
  | "noop"
  | "text_stream";

export const FLOW_DOCS: NodeDocs<Flow> = {
  start: {
    purpose: "The one node with which every run begins. Nothing leads to it.",
    config: {},
    inputs:
      "The run's input. An input contract on it is the contract of the whole workflow; the first of its `examples` is what the console offers as input.",
    output: "`{started: true, inputReceived: <the run's input>}`",
    handles: PLAIN,
    events: NO_EVENTS,
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
    output: "What the run gives.",
    handles: "None.",
    events: NO_EVENTS,
    causes: ["missing_variable"],
    example: `- id: end
  type: end
  config: { output_parameters: { greeting: "Hello, {{ ctx.input.name }}" } }`,
  },
  condition: {
    purpose: "Leaves by the first branch whose expression holds.",
    config: {
      branches:
        "`{id, when}` each: `when` is CEL over `ctx` and `input`, no template. `id` is the handle.",
    },
    inputs: "As `input` in the expressions.",
    output: "`{branch: <id>}`",
    handles: "The `id` of the branch; `else` when none holds.",
    events: "`node.skipped` for what is behind the branches not taken.",
    causes: ["condition_type", "condition_too_costly"],
    example: `- id: large
  type: condition
  config: { branches: [{ id: yes, when: "ctx.input.amount > 100" }] }`,
  },
  delay: {
    purpose: "Lets what follows wait. It holds no slot and no timer while it does.",
    config: { delay_ms: "How long: a number, or a template that gives one." },
    inputs: "In the template only.",
    output: "`{delayMs}`",
    handles: PLAIN,
    events: "`node.queued` of what follows says `notBefore`.",
    causes: ["missing_variable", "config_invalid"],
    example: `- id: pause
  type: delay
  config: { delay_ms: 1000 }`,
  },
  map: {
    purpose: "Runs its body once for every item, some at a time, and joins the results in order.",
    config: {
      items: "A list, or a template that gives one.",
      body: "A node without id: `{type, config, retry, timeout_ms}`. It sees `item` and `index` (from 0); a script `ctx.item`, `ctx.index`.",
      parallelism: "How many items are under way at once.",
      on_item_failure:
        "`fail` ends the map with the first item that fails for good, `continue` goes on; its result is null then.",
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
      "Runs its body once after the other: over items, a number of times, or until something holds.",
    config: {
      items: "A list, or a template that gives one. Not together with `times`.",
      times: "How often: a number, or a template that gives one.",
      body: "As of a `map`; it also sees `previous`, what the iteration before gave.",
      until:
        "CEL, judged after each iteration; `output` is what it gave. One of `items`, `times` and `until` is there.",
      max_iterations: "Where it fails at the latest.",
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
      "A run of another saved workflow. The node waits for it without a slot; the two end and are cancelled together.",
    config: {
      workflow_id: "Which workflow.",
      version: "Which version of it; the newest one if absent.",
      input: "The input of that run, any JSON with templates; the node's parameters if absent.",
    },
    inputs: "The input of the run, where `input` is absent.",
    output: "What that run gives.",
    handles: PLAIN,
    events: "`node.blocked` with the id of the run it waits for.",
    causes: ["child_failed", "missing_variable"],
    example: `- id: nested
  type: subworkflow
  config: { workflow_id: hello, input: { name: "{{ ctx.input.name }}" } }`,
  },
  approval: {
    purpose:
      "Asks a person and waits, for days if need be, without a slot, a lease or a job; the time does not count against the run's deadline.",
    config: {
      message: "What is asked, with templates.",
      details: "Any JSON for whoever decides, with templates.",
      response_schema:
        "JSON Schema 2020-12 that the response must fit, under the rules of contracts. No template. Without it any response will do, or none.",
      assignees:
        "Free texts, with templates, by which people find what is theirs (`pawl approval list --assignee …`).",
      deadline_ms: "How long it stays open; for ever where it does not say.",
      on_deadline:
        "`fail` fails the node, unless an edge leaves by `timeout`; `default` approves it with `default`.",
      default: "The response when nobody answered; it must fit the schema. No template.",
    },
    inputs: "As `input` in the templates.",
    output:
      "`{decision, response, comment, decidedBy, approvalId}`; `decision` is `approved`, `rejected`, `timed_out`, or `default` when nobody answered and there is one.",
    handles:
      "`approved`, which edges without a handle follow; `rejected` and `timeout`: without an edge by them the node fails.",
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
  noop: {
    purpose: "Does nothing, at once: a place where edges meet.",
    config: {},
    inputs: NO_INPUT,
    output: "`{}`",
    handles: PLAIN,
    events: NO_EVENTS,
    causes: [],
    example: `- id: meet
  type: noop`,
  },
  text_stream: {
    purpose: "Says a text piece by piece: streaming without a model.",
    config: {
      text: "What it says.",
      chunk_chars: "Characters of one piece.",
      interval_ms: "Wait between two pieces.",
    },
    inputs: "In the template only.",
    output: "`{text}`",
    handles: PLAIN,
    events: "`node.stream.delta` for every piece.",
    causes: ["missing_variable"],
    example: `- id: letter
  type: text_stream
  config: { text: "Dear {{ ctx.input.name }}, welcome.", interval_ms: 50 }`,
  },
};
