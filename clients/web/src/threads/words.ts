// What people say in a turn: the text in the input and in the output of a run. The functions are pure.

import { prettyJson } from "../ui/json-text.ts";

/** Members of a JSON object that hold its text, the likeliest first. */
const TEXT_KEYS = ["text", "message", "question", "prompt", "content", "answer", "reply"] as const;

const membersOf = (value: unknown): Readonly<Record<string, unknown>> =>
  typeof value === "object" && value !== null && !Array.isArray(value)
    ? Object.fromEntries(Object.entries(value))
    : {};

const textKeyOf = (value: unknown): string | undefined =>
  TEXT_KEYS.find((key) => typeof membersOf(value)[key] === "string");

/** The text that a person reads. A value without one is shown as JSON. "" for no value. */
export function wordsOf(value: unknown): string {
  if (value === undefined || value === null) return "";
  if (typeof value === "string") return value;
  const key = textKeyOf(value);
  return key === undefined ? prettyJson(JSON.stringify(value)) : String(membersOf(value)[key]);
}

/** How a text becomes the input of a workflow: as it is, as a member of an object, or as the JSON that the user wrote. */
type Form =
  | { readonly kind: "text" }
  | { readonly kind: "member"; readonly key: string }
  | { readonly kind: "json" };

/** The form of a workflow, by its sample input. Without a sample an object with a text is sent. */
export function formOf(sample: unknown): Form {
  if (sample === undefined || sample === null) return { kind: "member", key: TEXT_KEYS[0] };
  if (typeof sample === "string") return { kind: "text" };
  const key = textKeyOf(sample);
  return key === undefined ? { kind: "json" } : { kind: "member", key };
}

/** The input of a turn as JSON text. */
export function inputOf(form: Form, words: string): string {
  if (form.kind === "json") return words;
  return JSON.stringify(form.kind === "text" ? words : { [form.key]: words });
}

/** A piece of a model's text, as the mode `messages` has it. */
export interface Piece {
  readonly nodeId: string;
  readonly iteration: number;
  /** The claim that wrote it. */
  readonly epoch: number;
  readonly text: string;
}

/** Text under way: what the newest claim of each node execution has written. */
export interface Draft {
  readonly parts: readonly Piece[];
}

export const EMPTY_DRAFT: Draft = { parts: [] };

/** Adds a piece. The first piece of another claim replaces the text of the claim before. */
export function addPiece({ parts }: Draft, piece: Piece): Draft {
  const at = parts.findIndex(
    ({ nodeId, iteration }) => nodeId === piece.nodeId && iteration === piece.iteration,
  );
  const old = parts[at];
  if (old === undefined) return { parts: [...parts, piece] };
  const text = old.epoch === piece.epoch ? old.text + piece.text : piece.text;
  return { parts: parts.with(at, { ...piece, text }) };
}

/** The text of a draft. Texts of several executions are paragraphs. */
export const draftText = ({ parts }: Draft): string =>
  parts
    .map(({ text }) => text)
    .filter((text) => text !== "")
    .join("\n\n");
