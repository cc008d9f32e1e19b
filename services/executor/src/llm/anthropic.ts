// A provider for the Anthropic Messages API. It turns a conversation in the common chat form into messages of that API
// (anthropic-messages.ts), and the events of an answer into the pieces that the other providers send. A stream that ends without
// `message_stop` is a provider_error, never half an answer.

import { z } from "zod";
import type { Egress } from "../egress/fetch.ts";
import { requestOf } from "./anthropic-messages.ts";
import { Assembly, type ChatChunk } from "./assembly.ts";
import { callProvider, parsedJson, type ProviderSettings, streamFault } from "./call.ts";
import { ProviderFault, type LlmChunk, type LlmProvider } from "./provider.ts";

/** The version of the API that this file speaks. */
const VERSION = "2023-06-01";

/** Makes the provider. */
export const anthropicProvider = (egress: Egress, settings: ProviderSettings): LlmProvider => ({
  stream: (modelId, input, signal) =>
    callProvider(egress, {
      settings,
      path: "/messages",
      headers: {
        "anthropic-version": VERSION,
        ...(settings.apiKey === undefined ? {} : { "x-api-key": settings.apiKey.reveal() }),
      },
      body: requestOf(modelId, input),
      isStreamed: input.isStreamed,
      signal,
      streamed: (events) => streamed(events, settings),
      whole,
    }),
});

const usageSchema = z
  .looseObject({
    input_tokens: z.number().nullish(),
    cache_creation_input_tokens: z.number().nullish(),
    cache_read_input_tokens: z.number().nullish(),
    output_tokens: z.number().nullish(),
  })
  .nullish();
type Usage = z.output<typeof usageSchema>;

const blockSchema = z.looseObject({
  type: z.string(),
  text: z.string().nullish(),
  id: z.string().nullish(),
  name: z.string().nullish(),
  input: z.unknown().optional(),
});

const messageSchema = z.looseObject({
  content: z.array(blockSchema),
  stop_reason: z.string().nullish(),
  usage: usageSchema,
});

const eventSchema = z.looseObject({
  type: z.string(),
  index: z.int().min(0).max(1_000).default(0),
  message: messageSchema.optional(),
  content_block: blockSchema.optional(),
  delta: z
    .looseObject({
      type: z.string().optional(),
      text: z.string().optional(),
      partial_json: z.string().optional(),
      stop_reason: z.string().nullish(),
    })
    .optional(),
  usage: usageSchema,
  error: z.unknown().optional(),
});
type StreamEvent = z.output<typeof eventSchema>;

/** Why the model stopped, in the words of the other providers. */
const STOPS: ReadonlyMap<string, string> = new Map([
  ["end_turn", "stop"],
  ["stop_sequence", "stop"],
  ["tool_use", "tool_calls"],
  ["max_tokens", "length"],
]);

async function* streamed(
  events: AsyncIterable<string>,
  settings: ProviderSettings,
): AsyncGenerator<LlmChunk> {
  const assembly = new Assembly();
  const counted = new Counted();
  let isDone = false;
  for await (const data of events) {
    const event = parsed(eventSchema, data, "an event of a message");
    if (event.type === "error") throw streamFault(event.error ?? "no reason", settings);
    yield* assembly.take(chunkOf(event, counted));
    isDone = event.type === "message_stop";
    if (isDone) break;
  }
  if (!isDone) throw new ProviderFault("provider_error", "the stream ended before the answer did");
  yield { kind: "final", envelope: assembly.envelope() };
}

function* whole(text: string): Generator<LlmChunk> {
  const message = parsed(messageSchema, text, "a message");
  const assembly = new Assembly();
  const counted = new Counted();
  yield* message.content.flatMap((block, index) => [
    ...assembly.take(choice(blockDelta(block, index))),
    ...assembly.take(choice(inputDelta(block, index))),
  ]);
  const end = { ...choice({}, message.stop_reason), usage: counted.add(message.usage) };
  yield* assembly.take(end);
  yield { kind: "final", envelope: assembly.envelope() };
}

/** The piece of the common form that an event brings. An event of another kind brings none. */
function chunkOf(event: StreamEvent, counted: Counted): ChatChunk {
  const { type, index, message, content_block: block, delta } = event;
  if (type === "message_start") return { choices: [], usage: counted.add(message?.usage) };
  if (type === "content_block_start" && block !== undefined)
    return choice(blockDelta(block, index));
  if (type === "content_block_delta" && delta?.text !== undefined)
    return choice({ content: delta.text });
  if (type === "content_block_delta" && delta?.partial_json !== undefined)
    return choice(callDelta(index, { arguments: delta.partial_json }));
  if (type === "message_delta")
    return { ...choice({}, delta?.stop_reason), usage: counted.add(event.usage) };
  return { choices: [] };
}

type Delta = NonNullable<NonNullable<NonNullable<ChatChunk["choices"]>[number]>["delta"]>;
type Block = z.output<typeof blockSchema>;

const choice = (delta: Delta, stop?: string | null): ChatChunk => {
  const finish =
    stop === null || stop === undefined ? {} : { finish_reason: STOPS.get(stop) ?? stop };
  return { choices: [{ index: 0, delta, ...finish }] };
};

const callDelta = (
  index: number,
  called: { name?: string; arguments?: string },
  id?: string,
): Delta => ({
  tool_calls: [{ index, ...(id === undefined ? {} : { id }), function: called }],
});

/** A block as it begins: text, or a tool call whose input follows. */
function blockDelta({ type, text, id, name }: Block, index: number): Delta {
  if (type === "tool_use") return callDelta(index, { name: name ?? "" }, id ?? "");
  return type === "text" ? { content: text ?? "" } : {};
}

/** The input of a tool call of a whole answer. */
const inputDelta = ({ type, input }: Block, index: number): Delta =>
  type === "tool_use" ? callDelta(index, { arguments: JSON.stringify(input ?? {}) }) : {};

/** The tokens so far. The first event counts the input, with what a cache read or wrote, and the last one the output. */
class Counted {
  #input = 0;
  #output = 0;

  add(usage: Usage) {
    const {
      input_tokens: own,
      cache_creation_input_tokens: written,
      cache_read_input_tokens: read,
      output_tokens: output,
    } = usage ?? {};
    this.#input = Math.max(this.#input, (own ?? 0) + (written ?? 0) + (read ?? 0));
    this.#output = Math.max(this.#output, output ?? 0);
    return { prompt_tokens: this.#input, completion_tokens: this.#output };
  }
}

function parsed<Value>(schema: z.ZodType<Value>, text: string, what: string): Value {
  const value = schema.safeParse(parsedJson(text));
  if (value.success) return value.data;
  throw new ProviderFault("provider_error", `the provider sent JSON that is not ${what}`);
}
