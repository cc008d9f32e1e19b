// The offline model `script`: a user message of the conversation holds the answers of all turns as JSON, and the number of earlier answers
// says which turn it is. So an agent without a provider calls tools, the same ones on every machine:
//   [{"text": "Let me look.", "calls": [{"name": "look_up", "arguments": {"word": "pawl"}}]}, {"text": "It says {results}."}]
// `{results}` in a text is replaced by the results of the last tools as a JSON list. Behind its last turn the script has no text and no calls.

import { z } from "zod";
import { ProviderFault, type LlmMessage, type ToolCall } from "./provider.ts";

const RESULTS = "{results}";

const scriptSchema = z.array(
  z.strictObject({
    text: z.string().default(""),
    calls: z
      .array(
        z.strictObject({
          id: z.string().optional(),
          name: z.string(),
          /** A text is sent unchanged, so that a script can write arguments that are no JSON. */
          arguments: z.unknown().optional(),
        }),
      )
      .default([]),
  }),
);

interface Scripted {
  readonly text: string;
  readonly toolCalls: readonly ToolCall[];
}

/** The answer of the present turn. @throws ProviderFault if no message is a script */
export function scripted(messages: readonly LlmMessage[]): Scripted {
  const script = messages.map(scriptIn).find((found) => found !== undefined);
  if (script === undefined)
    throw new ProviderFault("config_invalid", "no user message is a script of turns as JSON", {
      permanent: true,
    });
  const turn = messages.filter(({ role }) => role === "assistant").length;
  const { text = "", calls = [] } = script[turn] ?? {};
  return {
    text: text.includes(RESULTS) ? text.replaceAll(RESULTS, () => resultsIn(messages)) : text,
    toolCalls: calls.map(({ id, name, arguments: args = {} }, at) => ({
      id: id ?? `call_${turn + 1}_${at + 1}`,
      type: "function",
      function: { name, arguments: typeof args === "string" ? args : JSON.stringify(args) },
    })),
  };
}

function scriptIn({ role, content }: LlmMessage): z.output<typeof scriptSchema> | undefined {
  if (role !== "user" || typeof content !== "string" || !content.trimStart().startsWith("["))
    return undefined;
  try {
    return scriptSchema.safeParse(JSON.parse(content)).data;
  } catch {
    return undefined;
  }
}

/** The results of the tools since the last answer, as a JSON list. */
function resultsIn(messages: readonly LlmMessage[]): string {
  const last = messages.findLastIndex(({ role }) => role === "assistant");
  const results = messages.slice(last + 1).filter(({ role }) => role === "tool");
  return JSON.stringify(results.map(({ content }) => content));
}
