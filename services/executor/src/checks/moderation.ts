// What the executor asks of moderation, whoever answers: findings in a value, and in texts that come piece by piece. A
// gateway that cannot answer says so; its caller then fails closed.

import type { Phase } from "@pawl/platform/contract/contract";

/** What was found, where, and by which rule; never the text itself. */
export interface Finding {
  readonly rule: string;
  readonly category: string;
  /** `input.topic` or `output.text`; `stream` for text that came piece by piece. */
  readonly path: string;
}

/** What is looked at, for whom. */
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

/** A look at a stretch of a stream. `clear` says how much of its text may have been shown by now. */
export type StretchVerdict =
  | { readonly ok: true; readonly clear: number; readonly findings: readonly Finding[] }
  | Unavailable;

/** A stretch of streamed text: `text` from `seen` on has not been shown, what is before it has. */
export interface Stretch {
  readonly text: string;
  readonly seen: number;
  /** Something was left out before `text`. */
  readonly isCut: boolean;
  /** Nothing follows. */
  readonly isLast: boolean;
}

/** Values by the word their places begin with: `input`, `config`, `output`. */
export type Roots = Readonly<Record<string, unknown>>;

export interface ModerationGateway {
  /** Looks at every text inside of the values. */
  readonly check: (
    roots: Roots,
    subject: ModerationSubject,
    signal: AbortSignal,
  ) => Verdict | Promise<Verdict>;
  /** Looks at a stretch of a stream. */
  readonly checkStretch: (
    stretch: Stretch,
    subject: ModerationSubject,
    signal: AbortSignal,
  ) => StretchVerdict | Promise<StretchVerdict>;
  /** How much shown text a stretch begins with, if there is so much. */
  readonly contextChars: number;
  /** A stretch is looked at when so much of it is new, or it is the last. */
  readonly stepChars: number;
}

/** How many findings are kept of one look. */
export const FINDINGS_MAX = 20;

/** The place of a finding in a stream. */
export const STREAM_PATH = "stream";

/** Every text inside of the values with its place: texts, numbers and the names of properties. */
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
      // A place that held the offending text itself would tell it.
      yield* textsIn(item, `${path}.${PLAIN_KEY.test(key) ? key : "*"}`);
    }
  }
}

const PLAIN_KEY = /^[A-Za-z0-9_-]{1,32}$/;
