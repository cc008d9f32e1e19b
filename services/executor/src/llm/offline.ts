// A provider without dependencies, for tests, benches and the demonstration. Its answer follows from the model and the prompt alone
// (except for `clock`). A model is a name with settings: `echo`, `lorem?tokens=2000&chunk=1&interval_ms=0`.
//   lorem  a made-up text of `tokens` words; so does any name with `tokens`
//   echo   the prompt          media  a text with a picture in it: `url`, `mime`
//   tool   one call of the tool `name`, or of the first one declared, with the prompt as its argument
//   script the turns of an agent, written in its prompt (script.ts)
//   fail   `cause` after `after` pieces, with `retry_after_ms`       clock  `tokens` pieces of "<index>:<milliseconds>"
// Any other name is a voice, such as `scholar`, `sceptic` or `editor`: it gives a written answer (answers.ts) or reports that it has none.
// It sends `chunk` pieces of text at a time, `interval_ms` apart. An answer that is cut off counts what was written.

import { setImmediate as nextTurn, setTimeout as wait } from "node:timers/promises";
import type { Media } from "@pawl/core/log/event";
import { z } from "zod";
import { answerOf, wordsOf } from "./answers.ts";
import { loremWords } from "./lorem.ts";
import { scripted } from "./script.ts";
import {
  ProviderFault,
  type LlmChunk,
  type LlmInput,
  type LlmProvider,
  type ToolCall,
} from "./provider.ts";

const TOKENS_MAX = 100_000;
const INTERVAL_MS_MAX = 60_000;
const CHARS_PER_TOKEN = 4;
const DEFAULT_PICTURE =
  "data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==";

/** A model with this prefix belongs to this provider, even if the node names another one. */
export const OFFLINE_PREFIX = "offline/";

type Piece = string | Media | (() => string);

interface Script {
  readonly pieces: Iterable<Piece>;
  readonly toolCalls?: readonly ToolCall[];
  /** Thrown after the last piece, if set. */
  readonly fault?: ProviderFault;
}

export const offlineProvider: LlmProvider = {
  async *stream(modelId, input, signal) {
    const { name, settings } = modelOf(modelId);
    const prompt = promptOf(input);
    const { pieces, toolCalls = [], fault } = scriptOf(name, settings, { prompt, input });
    const intervalMs = numberOf(settings, "interval_ms", 0, INTERVAL_MS_MAX);
    const tokensMax = input.maxTokens ?? TOKENS_MAX;
    const media: Media[] = [];
    let text = "";
    let tokens = 0;
    const counted = () => ({
      input_tokens: Math.ceil(JSON.stringify(input.messages).length / CHARS_PER_TOKEN),
      output_tokens: tokens + toolCalls.length,
    });
    for (const piece of pieces) {
      if (tokens >= tokensMax) break;
      // One turn of the event loop between two pieces, as between two reads of a socket.
      if (tokens > 0)
        await (intervalMs === 0 ? nextTurn() : wait(intervalMs, undefined, { signal }).catch(noop));
      if (signal.aborted) {
        yield { kind: "counted", usage: counted() };
        signal.throwIfAborted();
      }
      tokens++;
      if (typeof piece === "object") {
        media.push(piece);
        yield { kind: "media", media: piece };
        continue;
      }
      const part = typeof piece === "string" ? piece : piece();
      text += part;
      yield { kind: "partial", text: part } satisfies LlmChunk;
    }
    const usage = counted();
    if (fault !== undefined) {
      yield { kind: "counted", usage };
      throw fault;
    }
    const reason = tokens >= tokensMax ? "length" : toolCalls.length > 0 ? "tool_calls" : "stop";
    const envelope = { text, tool_calls: toolCalls, usage, finish_reason: reason, media };
    yield { kind: "final", envelope };
  },
};

/** The loop looks at the signal itself. */
const noop = (): void => undefined;

interface Asked {
  readonly prompt: string;
  readonly input: LlmInput;
}

function scriptOf(name: string, settings: URLSearchParams, { prompt, input }: Asked): Script {
  const chunk = numberOf(settings, "chunk", 1, TOKENS_MAX) || 1;
  const tokens = numberOf(settings, "tokens", 40, TOKENS_MAX);
  switch (name) {
    case "echo":
      return { pieces: joined(Array.from(prompt), chunk * CHARS_PER_TOKEN) };
    case "clock":
      return {
        pieces: Array.from({ length: tokens }, (_, index) => () => `${index}:${Date.now()} `),
      };
    case "media": {
      const url = settings.get("url") ?? DEFAULT_PICTURE;
      const mime = settings.get("mime") ?? "image/png";
      return { pieces: ["Here it is: ", { url, mime }, " Anything else?"] };
    }
    case "tool": {
      const tool = { name: settings.get("name") ?? firstTool(input) };
      const called = { ...tool, arguments: JSON.stringify({ prompt }) };
      return { pieces: [], toolCalls: [{ id: "call_0", type: "function", function: called }] };
    }
    case "script": {
      const { text, toolCalls } = scripted(input.messages);
      return { pieces: joined(wordsOf(text), chunk), toolCalls };
    }
    case "fail": {
      const cause = settings.get("cause") ?? "provider_error";
      const retryAfterMs = numberOf(settings, "retry_after_ms", 0, INTERVAL_MS_MAX);
      const permanent = settings.get("permanent") === "true";
      const options = { retryAfterMs, permanent };
      const fault = new ProviderFault(cause, "failed as its settings ask", options);
      return { pieces: loremWords(prompt, numberOf(settings, "after", 0, TOKENS_MAX)), fault };
    }
    default: {
      const isMadeUp = name === "lorem" || settings.has("tokens");
      const words = isMadeUp
        ? loremWords(`${name}\n${prompt}`, tokens)
        : wordsOf(answerOf(name, prompt));
      const text =
        input.responseFormat === "json" ? [JSON.stringify({ text: words.join("") })] : words;
      return { pieces: joined(text, chunk) };
    }
  }
}

function modelOf(modelId: string) {
  const bare = modelId.startsWith(OFFLINE_PREFIX) ? modelId.slice(OFFLINE_PREFIX.length) : modelId;
  const [name = "", query = ""] = bare.split("?", 2);
  return { name, settings: new URLSearchParams(query) };
}

function numberOf(settings: URLSearchParams, name: string, preset: number, max: number): number {
  const text = settings.get(name);
  if (text === null) return preset;
  if (/^\d{1,9}$/.test(text) && Number(text) <= max) return Number(text);
  const message = `the offline model wants ${name} as a whole number up to ${max}`;
  throw new ProviderFault("config_invalid", message, { permanent: true });
}

/** The last message, as text. */
function promptOf({ messages }: LlmInput): string {
  const content = messages.at(-1)?.content ?? "";
  return typeof content === "string" ? content : JSON.stringify(content);
}

function* joined(words: readonly string[], count: number): Generator<string> {
  for (let at = 0; at < words.length; at += count) yield words.slice(at, at + count).join("");
}

const toolSchema = z.object({ function: z.object({ name: z.string() }) });

/** The name of the first declared tool. */
function firstTool({ tools = [] }: LlmInput): string {
  return toolSchema.safeParse(tools[0]).data?.function.name ?? "tool";
}
