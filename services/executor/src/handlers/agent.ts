// `agent`: a model that calls tools. The scheduler runs the loop, and this handler does its two kinds of steps. The first fills in the
// templates and gives the opening of the conversation. Every later one is a turn: it asks the model once, with the conversation so far, and
// returns the tools that the model calls. So an executor holds no agent while its tools run, and a crash repeats one turn at most.
//
// The model writes the arguments of a call. They are checked here, before any tool runs. A fault goes back to the model.

import { BoundedMap } from "@pawl/core/data/bounded-map";
import { checkJson } from "@pawl/core/data/json";
import { isRecord } from "@pawl/core/data/path";
import { unknownTool } from "@pawl/core/definition/agent-config";
import { NODE_CONFIGS } from "@pawl/core/definition/node-types";
import type { ToolCall } from "@pawl/core/log/event";
import { result } from "@pawl/core/handler/result";
import { type Contract, compileContract } from "@pawl/platform/contract/contract";
import { z } from "zod";
import { askModel, jsonIn, rendered, renderedMessage } from "../llm/ask.ts";
import type { LlmEnvelope, LlmInput, LlmMessage } from "../llm/provider.ts";
import type { Providers } from "../llm/providers.ts";
import { defineHandler, Expansion, type Handler, Turn, withUnrendered } from "./handler.ts";
import { messagesOf } from "./llm.ts";

const FAULT_LENGTH = 1_000;
const TEXT_LENGTH = 4_096;
const NAME_LENGTH = 128;
const CONTRACTS_MAX = 500;

const declarationSchema = z.strictObject({
  name: z.string(),
  description: z.string(),
  input_schema: z.record(z.string(), z.unknown()),
});
type Declaration = z.output<typeof declarationSchema>;

/** The config of a turn, which core makes from the tools of the author. */
const turnSchema = z.strictObject({ declarations: z.array(declarationSchema) });

/** The author's config after rendering. The scheduler runs the tools, so their configs are not read here. */
const openingSchema = z.strictObject({
  ...NODE_CONFIGS.agent.shape,
  system: rendered.optional(),
  prompt: rendered.optional(),
  messages: z.array(renderedMessage).optional(),
  tools: z.unknown().optional(),
});

/** The model and the first messages: the same for every turn. */
const startSchema = z.object({
  provider: z.string().optional(),
  model: z.string(),
  temperature: z.number().optional(),
  max_tokens: z.number().optional(),
  timeout_ms: z.number().optional(),
  response_format: z.enum(["text", "json"]),
  stream: z.boolean(),
  messages: z.array(renderedMessage),
});

const resultSchema = z.looseObject({ id: z.string(), error: z.string().optional() });
/** The conversation so far, as core's `conversation.ts` writes it. */
const conversationSchema = z.object({
  opening: startSchema,
  turns: z.array(
    z.object({
      answer: z.looseObject({
        text: z.string(),
        tool_calls: z.array(
          z.looseObject({ id: z.string(), name: z.string(), arguments: z.unknown() }),
        ),
      }),
      results: z.array(resultSchema),
    }),
  ),
});
type Conversation = z.output<typeof conversationSchema>;

/** Makes the handler for the configured providers. */
export const agentHandler = (providers: Providers): Handler =>
  withUnrendered(
    ["tools", "declarations"],
    defineHandler({
      type: "agent",
      config: z.union([turnSchema, openingSchema]),
      run: async (_input, { config, ...ctx }) => {
        if (!("declarations" in config)) return new Expansion([openingOf(config)]);
        const conversation = conversationSchema.parse(ctx.context.item);
        const { opening } = conversation;
        const input = inputOf(conversation, config.declarations);
        const asked = { ...opening, input, isShown: opening.stream };
        const envelope = await askModel(providers, asked, ctx);
        return turnOf(envelope, config.declarations, conversation);
      },
    }),
  );

function openingOf(config: z.output<typeof openingSchema>): z.output<typeof startSchema> {
  const { tools: _tools, max_turns: _turns, system: _system, prompt: _prompt, ...start } = config;
  return { ...start, messages: messagesOf(config) };
}

function inputOf({ opening, turns }: Conversation, declarations: readonly Declaration[]): LlmInput {
  const { temperature, max_tokens: maxTokens } = opening;
  const tools = declarations.map(({ input_schema: parameters, ...rest }) => ({
    type: "function",
    function: { ...rest, parameters },
  }));
  return {
    messages: [...opening.messages, ...turns.flatMap(messagesIn)],
    ...(temperature === undefined ? {} : { temperature }),
    ...(maxTokens === undefined ? {} : { maxTokens }),
    ...(tools.length === 0 ? {} : { tools }),
    responseFormat: opening.response_format,
    isStreamed: opening.stream,
  };
}

/** A turn in the common chat form: the answer of the model, then a message for each result. */
function messagesIn({ answer, results }: Conversation["turns"][number]): LlmMessage[] {
  const calls = answer.tool_calls.map(({ id, name, arguments: args }) => ({
    id,
    type: "function",
    function: { name, arguments: textOf(args) },
  }));
  return [
    {
      role: "assistant",
      content: answer.text,
      ...(calls.length === 0 ? {} : { tool_calls: calls }),
    },
    ...results.map(({ id, error, output }) => ({
      ...{ role: "tool", tool_call_id: id },
      ...(error === undefined
        ? { content: textOf(output) }
        : { content: JSON.stringify({ error }), is_error: true }),
    })),
  ];
}

const textOf = (value: unknown): string =>
  typeof value === "string" ? value : JSON.stringify(value ?? null);

function turnOf(
  envelope: LlmEnvelope,
  declarations: readonly Declaration[],
  { opening, turns }: Conversation,
): Turn {
  const { text, tool_calls: asked, finish_reason, media } = envelope;
  const ids = new Set<string>();
  const made = asked.map(({ id, function: { name, arguments: args } }, at) => {
    const own = id.slice(0, NAME_LENGTH);
    // Some servers give no ids, or the same id twice. The answer to a call needs its own.
    const unique = own === "" || ids.has(own) ? `call_${turns.length + 1}_${at + 1}` : own;
    ids.add(unique);
    return callOf(unique, name.slice(0, NAME_LENGTH), args, declarations);
  });
  const isLast = made.length === 0;
  const json = isLast && opening.response_format === "json" ? { json: jsonIn(envelope) } : {};
  const output = { text, tool_calls: made.map(({ said }) => said), finish_reason, media, ...json };
  return new Turn(
    result(output, {}),
    made.map(({ call }) => call),
  );
}

interface MadeCall {
  readonly call: ToolCall;
  /** What the output of the turn keeps: the arguments, or the text that is no JSON. */
  readonly said: { readonly id: string; readonly name: string; readonly arguments: unknown };
}

function callOf(
  id: string,
  name: string,
  text: string,
  declarations: readonly Declaration[],
): MadeCall {
  const parsed = checkJson(text.trim() === "" ? "{}" : text);
  const args = parsed.ok ? parsed.value : text.slice(0, TEXT_LENGTH).toWellFormed();
  const declaration = declarations.find((each) => each.name === name);
  const names = declarations.map((each) => each.name);
  const fault =
    declaration === undefined
      ? unknownTool(name, names)
      : !parsed.ok
        ? `the arguments are not JSON that Pawl accepts: ${parsed.message}`
        : argumentFault(declaration, parsed.value);
  const said = { id, name, arguments: args };
  return {
    said,
    call: fault === undefined ? { id, name } : { id, name, fault: fault.slice(0, FAULT_LENGTH) },
  };
}

/** Compiled schemas of arguments by their text. Null if a published schema is in another language than ours: its handler checks. */
const contracts = new BoundedMap<string, Contract | null>(CONTRACTS_MAX);

function compiled(schemaText: string): Contract | null {
  try {
    return compileContract(JSON.parse(schemaText), "arguments");
  } catch {
    return null;
  }
}

function argumentFault({ input_schema: schema }: Declaration, args: unknown): string | undefined {
  if (!isRecord(args)) return "the arguments must be a JSON object";
  const check = contracts.ensure(JSON.stringify(schema), compiled);
  const [first, ...more] = check?.(args) ?? [];
  if (first === undefined) return undefined;
  const rest = more.length > 0 ? ` (and ${more.length} more)` : "";
  return `${first.path} ${first.message}${rest}`;
}
