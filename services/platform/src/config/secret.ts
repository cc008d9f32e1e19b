// A value that must not be printed: it shows as *** to logs, JSON, templates and the inspector, and gives itself up only to reveal().

import { inspect } from "node:util";

/** Wraps a secret. `shown` is what may be printed of it, such as a URL without its password. */
export class Secret {
  readonly #value: string;
  readonly #shown: string;

  constructor(value: string, shown = "***") {
    this.#value = value;
    this.#shown = shown;
  }

  /** The secret itself; call it only where it is handed to the outside thing that needs it. */
  reveal(): string {
    return this.#value;
  }

  toString(): string {
    return this.#shown;
  }

  toJSON(): string {
    return this.#shown;
  }

  [inspect.custom](): string {
    return this.#shown;
  }
}
