// The conversation of an agent, made from the log: the opening that the agent expanded into, the answer of each turn, and the result of each
// tool call. Only the next turn of the same agent gets it. The fold frees it when the node settles. This file joins JSON texts and never
// parses the user's JSON.

import { splitArray, splitObject } from "../data/split-array.ts";
import { utf8Bytes } from "../data/utf8.ts";
import type { CallState } from "./agent-state.ts";
import type { ScopeState } from "./scope-state.ts";
import type { ExecutionState } from "./state.ts";

/** A frame, an id and a name surround each result; ids and names have at most 128 characters, which may be escaped. */
const FRAME_BYTES = 2_048;

/** What an iteration of an agent gets as its item: a tool call its arguments, a turn the conversation so far. */
export function stepJson(scope: ScopeState, at: number): string {
  const call = scope.calls[at];
  return call
    ? `,"item":${argumentsJson(scope, call)},"index":${call.at}`
    : `,"item":${conversationJson(scope, at)},"index":${turnsBefore(scope, at)}`;
}

/** The next turn gets this: `{"opening", "turns": [{"answer", "results": [{"id", "name", "output"} or {"id", "name", "error"}]}]}`. */
function conversationJson(scope: ScopeState, before: number): string {
  const turns: { readonly answer: string; readonly results: string[] }[] = [];
  scope.items.slice(0, before).forEach((item, at) => {
    const call = scope.calls[at];
    if (call) turns.at(-1)?.results.push(resultJson(call, item));
    else turns.push({ answer: item.output ?? "null", results: [] });
  });
  const said = turns.map(
    ({ answer, results }) => `{"answer":${answer},"results":[${results.join(",")}]}`,
  );
  return `{"opening":${splitArray(scope.itemsJson)[0] ?? "null"},"turns":[${said.join(",")}]}`;
}

function resultJson({ id, name }: CallState, item: ExecutionState): string {
  const head = JSON.stringify({ id, name }).slice(0, -1);
  return item.status === "completed"
    ? `${head},"output":${item.output ?? "null"}}`
    : `${head},"error":${JSON.stringify(item.message ?? item.status)}}`;
}

/** The arguments of a call, which the answer of its turn holds. */
function argumentsJson(scope: ScopeState, { turn, at }: CallState): string {
  const calls = splitObject(scope.items[turn]?.output ?? "{}").get("tool_calls") ?? "[]";
  const call = splitArray(calls)[at];
  return (call === undefined ? undefined : splitObject(call).get("arguments")) ?? "null";
}

/** An upper bound of the bytes of what an iteration of an agent gets. */
export function stepBytes(scope: ScopeState, call: CallState | null | undefined): number {
  if (call) return scope.items[call.turn]?.outputBytes ?? 0;
  const messages = scope.items.reduce(
    (sum, { message = "" }) => sum + FRAME_BYTES + message.length * 6,
    0,
  );
  return utf8Bytes(scope.itemsJson) + scope.outputBytes + messages;
}

/** How many turns began before the iteration `at`, counted from 0. */
export const turnsBefore = ({ calls }: Pick<ScopeState, "calls">, at: number): number =>
  calls.slice(0, at).filter((call) => call === null).length;

/**
 * The output of an agent: the text of its last turn (and the JSON, if the agent asked for it), why the model stopped, and what the turns
 * took together.
 */
export function agentOutput({ items, calls, usage }: ScopeState): string {
  const last = splitObject(items.at(-1)?.output ?? "{}");
  const kept = ["text", "json", "media", "finish_reason"].flatMap((key) => {
    const json = last.get(key);
    return json === undefined ? [] : [`"${key}":${json}`];
  });
  const turns = turnsBefore({ calls }, calls.length);
  const counted = usage && {
    input_tokens: usage.inputTokens,
    output_tokens: usage.outputTokens,
  };
  const own = JSON.stringify({ turns, tool_calls: calls.length - turns, usage: counted ?? null });
  return `{${[...kept, own.slice(1, -1)].join(",")}}`;
}
