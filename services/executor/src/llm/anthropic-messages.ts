// A question in the common chat form, as a request of the Anthropic Messages API. System messages are a field of their own. Tool calls and
// their results are blocks. Messages of one role that follow each other become one.

import { isRecord } from "@pawl/core/data/path";
import type { LlmInput, LlmMessage } from "./provider.ts";

/** The API demands a bound. This one is for authors who set none. */
const MAX_TOKENS = 4_096;
const JSON_ONLY = "Answer with one JSON value and nothing else.";
const DATA_URL = /^data:([\w.+-]+\/[\w.+-]+);base64,(.*)$/s;

type Block = Readonly<Record<string, unknown>>;
interface Message {
  readonly role: "user" | "assistant";
  readonly content: readonly Block[];
}

/** The body of the request. */
export function requestOf(model: string, input: LlmInput) {
  const isSystem = ({ role }: LlmMessage): boolean => role === "system" || role === "developer";
  const system = [
    ...input.messages.filter(isSystem).map(({ content }) => textOf(content)),
    ...(input.responseFormat === "json" ? [JSON_ONLY] : []),
  ];
  return {
    model,
    max_tokens: input.maxTokens ?? MAX_TOKENS,
    ...(system.length === 0 ? {} : { system: system.join("\n\n") }),
    messages: joined(input.messages.filter((each) => !isSystem(each)).map(messageOf)),
    ...(input.temperature === undefined ? {} : { temperature: Math.min(1, input.temperature) }),
    ...(input.tools === undefined ? {} : { tools: input.tools.map(toolOf) }),
    ...(input.isStreamed ? { stream: true } : {}),
  };
}

function messageOf(message: LlmMessage): Message {
  const { role, content, tool_calls: calls, tool_call_id: id, is_error: isError } = message;
  if (role === "tool") {
    const result = { type: "tool_result", tool_use_id: textOf(id), content: textOf(content) };
    return { role: "user", content: [isError === true ? { ...result, is_error: true } : result] };
  }
  const called = Array.isArray(calls) ? calls.map(callBlock) : [];
  return {
    role: role === "assistant" ? role : "user",
    content: [...blocksOf(content), ...called],
  };
}

function callBlock(call: unknown): Block {
  const { id, function: called } = isRecord(call) ? call : {};
  const { name, arguments: args } = isRecord(called) ? called : {};
  return { type: "tool_use", id: textOf(id), name: textOf(name), input: objectIn(textOf(args)) };
}

/** The arguments of a call. The API accepts only an object, also where the model wrote something else. */
function objectIn(text: string): unknown {
  try {
    const value: unknown = JSON.parse(text);
    return isRecord(value) ? value : { value };
  } catch {
    return { text };
  }
}

/** A text, or parts of the common form. A text of only whitespace has no block, because the API refuses it. */
function blocksOf(content: unknown): readonly Block[] {
  if (Array.isArray(content)) return content.flatMap(partOf);
  const text = textOf(content);
  return text.trim() === "" ? [] : [{ type: "text", text }];
}

function partOf(part: unknown): readonly Block[] {
  if (!isRecord(part)) return blocksOf(part);
  const { type, text, image_url: image } = part;
  if (type === "text" && textOf(text).trim() === "") return [];
  if (type !== "image_url" || !isRecord(image)) return [part];
  const url = textOf(image["url"]);
  const [, mime, data] = DATA_URL.exec(url) ?? [];
  const source =
    mime === undefined ? { type: "url", url } : { type: "base64", media_type: mime, data };
  return [{ type: "image", source }];
}

function joined(messages: readonly Message[]): Message[] {
  const made: Message[] = [];
  for (const { role, content } of messages) {
    const last = made.at(-1);
    if (last?.role === role) made.splice(-1, 1, { role, content: [...last.content, ...content] });
    else if (content.length > 0) made.push({ role, content });
  }
  return made;
}

/** A declaration of the common form. One that is already in the form of this API stays unchanged. */
function toolOf(tool: unknown): unknown {
  const called = isRecord(tool) ? tool["function"] : undefined;
  if (!isRecord(called)) return tool;
  const { name, description, parameters = { type: "object" } } = called;
  return {
    name,
    ...(description === undefined || description === "" ? {} : { description }),
    input_schema: parameters,
  };
}

const textOf = (value: unknown): string =>
  typeof value === "string"
    ? value
    : value === null || value === undefined
      ? ""
      : JSON.stringify(value);
