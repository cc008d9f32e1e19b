// The interface of moderation, for rules and for a service. It finds problems in a value, and in text that arrives in pieces. If a gateway
// cannot answer, the executor fails the node.

import type { Phase } from "@pawl/platform/contract/contract";

/** A finding names the rule and the place, never the text itself. */
export interface Finding {
  readonly rule: string;
  readonly category: string;
  /** `input.topic` or `output.text`. `stream` for text that arrived in pieces. */
  readonly path: string;
}

/** The node whose data is checked. */
export interface ModerationSubject {
  readonly phase: Phase;
  readonly runId: string;
  readonly nodeId: string;
}

export interface Unavailable {
  readonly ok: false;
  readonly message: string;
}

export type Verdict = { readonly ok: true; readonly findings: readonly Finding[] } | Unavailable;

/** The result for a stretch of a stream. `clear` is how much of its text readers may see. */
export type StretchVerdict =
  | (Extract<Verdict, { ok: true }> & { readonly clear: number })
  | Unavailable;

/** A stretch of streamed text. Readers have seen `text` up to `seen`, and nothing after it. */
export interface Stretch {
  readonly text: string;
  readonly seen: number;
  /** Some text before `text` was left out. */
  readonly isCut: boolean;
  /** No more text follows. */
  readonly isLast: boolean;
}

/** Values by the first word of their paths: `input`, `config`, `output`. */
export type Roots = Readonly<Record<string, unknown>>;

export interface ModerationGateway {
  /** Checks every text inside the values. */
  readonly check: (
    roots: Roots,
    subject: ModerationSubject,
    signal: AbortSignal,
  ) => Verdict | Promise<Verdict>;
  /** Checks a stretch of a stream. */
  readonly checkStretch: (
    stretch: Stretch,
    subject: ModerationSubject,
    signal: AbortSignal,
  ) => StretchVerdict | Promise<StretchVerdict>;
  /** How much text that readers have seen is in front of a stretch, if there is that much. */
  readonly contextChars: number;
  /** How much new text a stretch needs before it is checked. The last stretch may have less. */
  readonly stepChars: number;
}

/** How many findings of one check are kept. */
export const FINDINGS_MAX = 20;

/** The path of a finding in a stream. */
export const STREAM_PATH = "stream";

/** Every text inside the values with its path: texts, numbers and the names of properties. */
export function* textsOf(roots: Roots): Generator<readonly [path: string, text: string]> {
  for (const [name, value] of Object.entries(roots)) yield* textsIn(value, name);
}

function* textsIn(value: unknown, path: string): Generator<readonly [string, string]> {
  if (typeof value === "string") yield [path, value];
  else if (typeof value === "number") yield [path, String(value)];
  else if (Array.isArray(value)) {
    for (const [index, item] of value.entries()) yield* textsIn(item, `${path}[${index}]`);
  } else if (typeof value === "object" && value !== null) {
    for (const [key, item] of Object.entries(value)) {
      yield [path, key];
      // A path with the offending text would show it.
      yield* textsIn(item, `${path}.${PLAIN_KEY.test(key) ? key : "*"}`);
    }
  }
}

const PLAIN_KEY = /^[A-Za-z0-9_-]{1,32}$/;
