// Notes for the operator about a process that still serves: a short text per name. /readyz shows it until the part that set it clears it.
// Any part of a service may set a note. A note never makes the process unready.

export class ReadyNotes {
  readonly #notes = new Map<string, string>();

  /** Sets the note of this name. Undefined clears it. Returns whether the shown notes changed. */
  set(name: string, text: string | undefined): boolean {
    if (this.#notes.get(name) === text) return false;
    if (text === undefined) this.#notes.delete(name);
    else this.#notes.set(name, text);
    return true;
  }

  /** The notes by name, in the order in which they were set. */
  get all(): Readonly<Record<string, string>> {
    return Object.fromEntries(this.#notes);
  }
}
