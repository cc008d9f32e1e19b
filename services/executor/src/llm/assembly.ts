// Builds an answer from its pieces. Text and media are forwarded at once, and tool calls grow until the end. It fails as soon as an answer
// is too large to be stored.

import { LIMITS } from "@pawl/core/data/limits";
import type { Media } from "@pawl/core/log/event";
import { z } from "zod";
import { ProviderFault, type LlmChunk, type LlmEnvelope } from "./provider.ts";

// One piece of an OpenAI-compatible chat completion, streamed or whole. The schema covers only the fields that are used, because
// servers differ in the rest. A piece that does not match is a fault of the provider.

const toolCallSchema = z.looseObject({
  index: z.int().min(0).max(1_000).optional(),
  id: z.string().nullish(),
  function: z
    .looseObject({ name: z.string().nullish(), arguments: z.string().nullish() })
    .nullish(),
});

const imageSchema = z.looseObject({ image_url: z.looseObject({ url: z.string() }) });

const partSchema = z.looseObject({
  type: z.string(),
  text: z.string().nullish(),
  image_url: z.looseObject({ url: z.string() }).nullish(),
});

const messageSchema = z.looseObject({
  content: z.union([z.string(), z.array(partSchema)]).nullish(),
  tool_calls: z.array(toolCallSchema).nullish(),
  images: z.array(imageSchema).nullish(),
});

export const chatChunkSchema = z.looseObject({
  error: z.unknown().optional(),
  choices: z
    .array(
      z.looseObject({
        index: z.number().optional(),
        /** Set in a streamed piece. */
        delta: messageSchema.nullish(),
        /** Set in a whole answer. */
        message: messageSchema.nullish(),
        finish_reason: z.string().nullish(),
      }),
    )
    .nullish(),
  usage: z
    .looseObject({ prompt_tokens: z.number().nullish(), completion_tokens: z.number().nullish() })
    .nullish(),
});

export type ChatChunk = z.output<typeof chatChunkSchema>;
type ChatMessage = z.output<typeof messageSchema>;
type ChatPart = z.output<typeof partSchema>;

interface GrowingCall {
  id: string;
  name: string;
  arguments: string;
}

export class Assembly {
  #text = "";
  #bytes = 0;
  #finishReason: string | undefined;
  #usage: LlmEnvelope["usage"] = null;
  readonly #calls = new Map<number, GrowingCall>();
  readonly #media: Media[] = [];

  /** Whether the model reported that it was done. */
  get isFinished(): boolean {
    return this.#finishReason !== undefined;
  }

  /** Takes one piece and returns the new part of it. @throws ProviderFault */
  take(chunk: ChatChunk): LlmChunk[] {
    const { usage } = chunk;
    const counted: LlmChunk[] = [];
    if (usage !== null && usage !== undefined) {
      this.#usage = {
        input_tokens: count(usage.prompt_tokens),
        output_tokens: count(usage.completion_tokens),
      };
      counted.push({ kind: "counted", usage: this.#usage });
    }
    const choice = chunk.choices?.find(({ index = 0 }) => index === 0);
    if (choice === undefined) return counted;
    // Some servers send an empty reason with every piece.
    this.#finishReason = choice.finish_reason || this.#finishReason;
    const message = choice.delta ?? choice.message;
    return message === null || message === undefined
      ? counted
      : [...counted, ...this.#message(message)];
  }

  /** The whole answer of a stream that ended properly. */
  envelope(): LlmEnvelope {
    return {
      text: this.#text,
      tool_calls: [...this.#calls].toSorted(byIndex).map(([, { id, name, arguments: args }]) => ({
        id,
        type: "function",
        function: { name, arguments: args },
      })),
      usage: this.#usage,
      finish_reason: this.#finishReason ?? "stop",
      media: this.#media,
    };
  }

  #message({ content, tool_calls: calls, images }: ChatMessage): LlmChunk[] {
    const chunks: LlmChunk[] = [];
    const parts: readonly ChatPart[] =
      typeof content === "string" ? [{ type: "text", text: content }] : (content ?? []);
    for (const { text, image_url: image } of parts) {
      if (typeof text === "string" && text !== "") chunks.push(this.#partial(text));
      if (image !== null && image !== undefined) chunks.push(this.#picture(image.url));
    }
    for (const image of images ?? []) chunks.push(this.#picture(image.image_url.url));
    (calls ?? []).forEach((call, position) => {
      const index = call.index ?? position;
      const grown = this.#calls.get(index) ?? { id: "", name: "", arguments: "" };
      this.#calls.set(index, grown);
      grown.id ||= call.id ?? "";
      grown.name += call.function?.name ?? "";
      grown.arguments += call.function?.arguments ?? "";
      this.#grow(call.function?.arguments ?? "");
    });
    return chunks;
  }

  #partial(text: string): LlmChunk {
    this.#grow(text);
    this.#text += text;
    return { kind: "partial", text };
  }

  #picture(url: string): LlmChunk {
    if (url.length > LIMITS.deltaBytes) {
      const message = `a picture is larger than ${LIMITS.deltaBytes} bytes`;
      throw new ProviderFault("response_too_large", message, { permanent: true });
    }
    this.#grow(url);
    const media = { url, mime: mimeOf(url) };
    this.#media.push(media);
    return { kind: "media", media };
  }

  #grow(text: string): void {
    this.#bytes += Buffer.byteLength(text);
    if (this.#bytes <= LIMITS.valueBytes) return;
    const message = `the answer is larger than ${LIMITS.valueBytes} bytes`;
    throw new ProviderFault("response_too_large", message, { permanent: true });
  }
}

const byIndex = ([one]: readonly [number, unknown], [other]: readonly [number, unknown]): number =>
  one - other;

const count = (tokens: number | null | undefined): number =>
  Math.max(0, Math.trunc(Number.isFinite(tokens) ? (tokens ?? 0) : 0));

const EXTENSIONS: Readonly<Record<string, string>> = {
  png: "image/png",
  jpg: "image/jpeg",
  jpeg: "image/jpeg",
  gif: "image/gif",
  webp: "image/webp",
  svg: "image/svg+xml",
};

/** The type that a data: URL names, or that the end of the address suggests. */
function mimeOf(url: string): string {
  const named = /^data:([\w.+-]+\/[\w.+-]+)/i.exec(url)?.[1];
  if (named !== undefined) return named.toLowerCase();
  const extension = /\.(\w+)$/.exec(URL.parse(url)?.pathname ?? "")?.[1]?.toLowerCase() ?? "";
  return EXTENSIONS[extension] ?? "application/octet-stream";
}
