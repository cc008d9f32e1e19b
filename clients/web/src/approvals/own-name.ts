// The name under which the reader answers, kept in this browser so that it is typed once. Nothing depends on it.

const KEY = "pawl.answers-as";

/** The kept name; empty where there is none or the browser keeps nothing. */
export function readName(): string {
  try {
    return localStorage.getItem(KEY) ?? "";
  } catch {
    return "";
  }
}

/** Keeps a name for the next answer. */
export function keepName(name: string): void {
  try {
    localStorage.setItem(KEY, name);
  } catch {
    // A browser that keeps nothing asks again.
  }
}
