// Descriptions of the types that let a model decide: the agent, which calls tools, and the supervisor, which chooses the next node.

import type { NodeDocs } from "./node-docs.ts";

const MODEL = {
  provider: "A provider of the executor's configuration; its default one if absent.",
  model: "The model, by the provider's name for it.",
  system: "The system message.",
  temperature: "Passed on.",
  max_tokens: "Passed on, for every turn.",
  timeout_ms: "How long one answer may take; the provider's limit if absent.",
};

export const AGENT_DOCS = {
  agent: {
    purpose:
      "A model that calls tools until it has its answer. Every turn and every tool call is an execution of its own: see [Agents](../guides/agents.md).",
    config: {
      ...MODEL,
      prompt: "The task. Either this or `messages`.",
      messages: "The beginning of the conversation: `{role, content}` each.",
      tools:
        "What the model may call: `{name, description, type, config, input, input_schema, retry, timeout_ms, on_error}` with any node type, the same with `http: <config of an http node>` or `workflow: <id>` in place of `type` and `config`, or `save_to_memory`. Templates in a tool read the arguments of the call as `ctx.item`. Pawl itself writes `published_schema`, the schema of the node type, if a tool has no `input_schema`.",
      max_turns:
        "How often the model is asked. A model that still calls tools then fails the node.",
      response_format: "`json` asks for JSON and gives it parsed as `json`.",
      stream: "False asks for each answer at once.",
    },
    inputs: "In templates.",
    output:
      "`{text, finish_reason, turns, tool_calls, usage: {input_tokens, output_tokens}, media}`: the last answer of the model, the number of turns and calls, and the tokens of all turns; `json` if `response_format` is `json`.",
    events:
      "`node.expanded`; then for every turn and tool call the events of an execution with an iteration of its own. `node.completed` of a turn has `calls`.",
    causes: [
      "turn_failed",
      "tool_failed",
      "max_turns",
      "conversation_too_large",
      "unknown_provider",
    ],
    example: `- id: assistant
  type: agent
  retry: standard
  write_key: answer
  config:
    model: "offline/script"
    prompt: '[{"calls": [{"name": "save_to_memory", "arguments": {"values": {"city": "Cork"}}}]}, {"text": "Saved."}]'
    tools: [save_to_memory]`,
  },
  supervisor: {
    purpose:
      "Chooses the next node, again and again, until it is done: by rules, then by a model. The nodes lead back to it by loop edges: see [Supervisors](../guides/agents.md#supervisors).",
    config: {
      routes:
        "`{id, when, description}` each. `id` is the handle. The first route whose `when` (CEL over `ctx` and `input`) holds is taken. Otherwise the model chooses by the descriptions. Without a model, the supervisor is done.",
      ...MODEL,
      model: "The model that chooses if no rule holds. Optional.",
      prompt: "What the model is to reach. It also gets the routes and its earlier decisions.",
      max_iterations:
        "How often the supervisor decides in one run. Then it leaves by the handle `max_iterations`, or fails if no edge has it.",
    },
    inputs: "As `input` in the expressions and templates.",
    output: "`{route, reason}`",
    handles: "The `id` of the route; `done`; `max_iterations`.",
    events: "`node.invalidated` of the nodes that run again; `node.completed` has the decision.",
    causes: ["max_iterations", "route_invalid", "condition_type", "unknown_provider"],
    example: `- id: lead
  type: supervisor
  config:
    routes: [{ id: research, when: "size(ctx.nodes) < 3" }]
    max_iterations: 3`,
  },
} satisfies Partial<NodeDocs>;
