// A value that must not be printed. Logs, JSON, templates and the inspector show it as ***. Only reveal() returns it.

import { inspect } from "node:util";

/** Wraps a secret. `shown` is the part that may be printed, such as a URL without its password. */
export class Secret {
  readonly #value: string;
  readonly #shown: string;

  constructor(value: string, shown = "***") {
    this.#value = value;
    this.#shown = shown;
  }

  /** The secret itself; call this only to pass it to the service that needs it. */
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
