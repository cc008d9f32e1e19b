// Holds streamed text back until moderation has cleared it. So moderation finds a phrase that is split over several pieces before its first
// character is shown. After a finding, no more text is shown.

import type { Finding, ModerationGateway, ModerationSubject, Unavailable } from "./moderation.ts";

export type Passed =
  | { readonly kind: "clear"; readonly text: string }
  | { readonly kind: "found"; readonly findings: readonly Finding[] }
  | ({ readonly kind: "unavailable" } & Pick<Unavailable, "message">);

export class StreamWindow {
  readonly #gateway: ModerationGateway;
  readonly #subject: ModerationSubject;
  readonly #signal: AbortSignal;
  /** The end of the text that was shown. */
  #shown = "";
  #isCut = false;
  #pending = "";
  #fresh = 0;
  #isShut = false;

  constructor(gateway: ModerationGateway, subject: ModerationSubject, signal: AbortSignal) {
    this.#gateway = gateway;
    this.#subject = subject;
    this.#signal = signal;
  }

  /** Takes a piece and returns the text that may be shown now. Wait for the answer before the next call. */
  async push(text: string): Promise<Passed> {
    this.#pending += text;
    this.#fresh += text.length;
    if (this.#isShut || this.#fresh < this.#gateway.stepChars) return { kind: "clear", text: "" };
    return await this.#look(false);
  }

  /** Ends the stream and returns the rest. */
  async end(): Promise<Passed> {
    if (this.#isShut || this.#pending === "") return { kind: "clear", text: "" };
    return await this.#look(true);
  }

  async #look(isLast: boolean): Promise<Passed> {
    const seen = this.#shown.length;
    const text = this.#shown + this.#pending;
    const stretch = { text, seen, isCut: this.#isCut, isLast };
    const verdict = await this.#gateway.checkStretch(stretch, this.#subject, this.#signal);
    this.#fresh = 0;
    if (!verdict.ok) {
      this.#isShut = true;
      return { kind: "unavailable", message: verdict.message };
    }
    if (verdict.findings.length > 0) {
      this.#isShut = true;
      return { kind: "found", findings: verdict.findings };
    }
    const clear = whole(text, Math.max(seen, verdict.clear));
    const cleared = text.slice(seen, clear);
    const kept = Math.max(0, clear - this.#gateway.contextChars);
    this.#isCut ||= kept > 0;
    this.#shown = text.slice(kept, clear);
    this.#pending = text.slice(clear);
    return { kind: "clear", text: cleared };
  }
}

/** `at`, or one less if it would split a pair of surrogates. */
const whole = (text: string, at: number): number => {
  const code = at > 0 && at < text.length ? text.charCodeAt(at - 1) : 0;
  return code >= 0xd800 && code <= 0xdbff ? at - 1 : at;
};
