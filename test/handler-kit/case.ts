// A case of the kit: a name, the rule that it proves, and a script.

import type { Kit } from "./kit.ts";

export interface Case<Bench = Kit> {
  /** What the program does if it keeps the rule. */
  readonly name: string;
  /** The id of the rule in docs/reference/handler-protocol.md, or of the behaviour in clients/PARITY.md. */
  readonly rule: string;
  /** `own`: the case needs a program that no case has used, and ends it. */
  readonly program?: "own";
  /** Gives a figure that it measured, for people, or nothing. */
  readonly run: (kit: Bench) => Promise<string | void>;
}

/** Cases about one part of the protocol. */
export interface Group<Bench = Kit> {
  readonly name: string;
  readonly cases: readonly Case<Bench>[];
}
