// The return value of a handler: its output, or a result with more than an output.

import type { Action } from "../action/kinds.ts";
import type { Usage } from "../log/event.ts";

export interface ResultFacts {
  /** The handle by which the node is left. */
  readonly handle?: string;
  /** How long the next nodes wait. */
  readonly queueDelayMs?: number;
  /** What the handler used, and has not reported by `usage` of its context. */
  readonly usage?: Usage;
  /** Labels that the output gets beside those of the data that the handler got. */
  readonly taint?: readonly string[];
}

/** An output with more facts. The function `result` makes it. */
export class Result<Output> {
  readonly output: Output;
  readonly facts: ResultFacts;

  constructor(output: Output, facts: ResultFacts) {
    this.output = output;
    this.facts = facts;
  }
}

/** An output, with a handle to leave by, a delay or the tokens of a model. */
export const result = <Output>(output: Output, facts: ResultFacts): Result<Output> =>
  new Result(output, facts);

/** An instruction to the scheduler instead of an output. Only handlers that are part of an executor may return one. */
export abstract class Directive {
  abstract readonly directive: string;
}

/** Success as a value. */
export interface HandlerSuccess extends ResultFacts {
  readonly output: unknown;
  /** What the handler asks of the engine beside its output. */
  readonly actions?: readonly Action[];
}
