// The moderation checks of one attempt: its input before the handler, its stream deltas while the handler runs, its output afterwards.
//
// Race: a handler emits pieces without waiting for the checks. Pieces, media and log lines are checked one after the other, in the order of
// their emission, and the attempt ends after the last of them. Text that cannot be checked is never shown.

import { MODERATION_HOLD, type Media } from "@pawl/core/log/event";
import { isModerated, type Moderation, type ModerationAction } from "@pawl/core/policy/moderation";
import { GateKind } from "@pawl/proto/pawl/worker/v1/worker_service_pb";
import type { Phase } from "@pawl/platform/contract/contract";
import {
  STREAM_PATH,
  type Finding,
  type ModerationGateway,
  type Roots,
  type Verdict,
} from "../checks/moderation.ts";
import { StreamWindow, type Passed } from "../checks/stream-window.ts";
import type { AttemptHooks } from "./run-attempt.ts";
import type { Ended, WireCheck } from "./contract-check.ts";
import { failed, failedWith, parsedJson, type WireResult } from "./outcome.ts";

const WITHHELD = "[withheld by moderation]";

interface ModerationCheckOptions {
  readonly gateway: ModerationGateway;
  readonly moderation: Moderation;
  readonly action: ModerationAction;
  readonly runId: string;
  readonly nodeId: string;
  readonly hooks: AttemptHooks;
  /** Ends the handler, because its output is no longer needed. */
  readonly stop: () => void;
}

/** The findings, or why moderation could not check. */
type Trouble = Exclude<Passed, { kind: "clear" }>;

export class ModerationCheck {
  readonly #options: ModerationCheckOptions;
  readonly #window: StreamWindow;
  #chain: Promise<void> = Promise.resolve();
  #trouble: Trouble | undefined;
  /** Pictures and files, each with its position in the text, in characters. */
  readonly #media: { readonly behind: number; readonly media: Media }[] = [];
  #emitted = 0;
  #shown = 0;

  constructor(options: ModerationCheckOptions) {
    this.#options = options;
    const { gateway, hooks, runId, nodeId } = options;
    this.#window = new StreamWindow(gateway, { phase: "output", runId, nodeId }, hooks.signal);
  }

  /** The end of an attempt whose input moderation refuses, or undefined. */
  async input(roots: Roots): Promise<Ended | undefined> {
    if (!isModerated(this.#options.moderation, "input")) return undefined;
    const trouble = troubleOf(await this.#check(roots, "input"));
    if (trouble === undefined) return undefined;
    if (trouble.kind === "unavailable") return { result: unavailable(trouble.message) };
    const gates = [flag("input", trouble.findings)];
    if (this.#options.action === "block") return { result: blocked("input", trouble), gates };
    return { result: { case: "held", value: { reason: MODERATION_HOLD, phase: "input" } }, gates };
  }

  /** The hooks for the handler: everything it emits passes the checks first. */
  hooks(): AttemptHooks {
    const { hooks, moderation } = this.#options;
    if (!isModerated(moderation, "output")) return hooks;
    return {
      ...hooks,
      emit: (text) => this.#next(() => this.#emit(text)),
      emitMedia: (media) => this.#next(() => this.#emitMedia(media)),
      // The handler does not wait for a log line, but the end of the attempt does.
      log: (level, message) => void this.#next(() => this.#log(level, message)),
    };
  }

  /** The attempt's end after all checks. `accepted` checks the contract of an output that will be held or shown. */
  async output(result: WireResult, accepted: (result: WireResult) => Ended): Promise<Ended> {
    const { moderation, action, hooks } = this.#options;
    if (!isModerated(moderation, "output")) return accepted(result);
    await this.#chain;
    if (hooks.signal.aborted) return { result };
    // The held-back rest of the stream is shown only if the handler ended well.
    const hasRest = this.#trouble === undefined && result.case === "completed";
    const rest: Passed = hasRest ? await this.#window.end() : { kind: "clear", text: "" };
    const found = this.#trouble ?? (rest.kind === "clear" ? await this.#judge(result) : rest);
    if (found === undefined) {
      const ended = accepted(result);
      if (ended.result.case === "completed") await this.#release(rest);
      return ended;
    }
    if (found.kind === "unavailable") return { result: unavailable(found.message) };
    const gates = [flag("output", found.findings)];
    // The handler failed by itself, so only its message and details are withheld.
    if (result.case === "failed" && (this.#trouble === undefined || action === "hold"))
      return { result: withheld(result), gates };
    if (action === "block") return { result: blocked("output", found), gates };
    // A person is not asked about an output that its contract refuses.
    const ended = accepted(result);
    if (ended.result.case !== "completed")
      return { ...ended, gates: [...gates, ...(ended.gates ?? [])] };
    const value = { reason: MODERATION_HOLD, phase: "output", completed: ended.result.value };
    return { result: { case: "held", value }, gates };
  }

  async #check(roots: Roots, phase: Phase): Promise<Verdict> {
    const { gateway, hooks, runId, nodeId } = this.#options;
    return await gateway.check(roots, { phase, runId, nodeId }, hooks.signal);
  }

  /** The findings in the handler's output, or in the message and details of its failure. */
  async #judge(result: WireResult): Promise<Trouble | undefined> {
    if (result.case === "failed") {
      const { message = "", detailsJson } = result.value;
      const details = parsedJson(detailsJson);
      return troubleOf(await this.#check({ error: { message, details } }, "output"));
    }
    if (result.case !== "completed") return undefined;
    const output = parsedJson(result.value.outputJson);
    // What the handler writes to the memory reaches other nodes as its output does.
    const written = (result.value.actions ?? []).flatMap(({ action }) =>
      action?.case === "updateMemory"
        ? [JSON.parse(action.value.valuesJson ?? "{}") as unknown]
        : [],
    );
    const roots = written.length === 0 ? { output } : { output, memory: written };
    return troubleOf(await this.#check(roots, "output"));
  }

  #next(step: () => Promise<void>): Promise<void> {
    const guarded = async (): Promise<void> => {
      if (this.#trouble === undefined && !this.#options.hooks.signal.aborted) await step();
    };
    this.#chain = this.#chain.then(guarded).catch((error: unknown) => {
      const message = error instanceof Error ? error.name : "error";
      this.#enter({ kind: "unavailable", message: `moderation failed (${message})` });
    });
    return this.#chain;
  }

  async #emit(text: string): Promise<void> {
    this.#emitted += text.length;
    await this.#release(await this.#window.push(text));
  }

  async #emitMedia(media: Media): Promise<void> {
    const trouble = troubleOf(await this.#check({ [STREAM_PATH]: media }, "output"));
    if (trouble !== undefined) return this.#enter(trouble);
    this.#media.push({ behind: this.#emitted, media });
    await this.#release({ kind: "clear", text: "" });
  }

  async #log(level: string, message: string): Promise<void> {
    const verdict = await this.#check({ log: message }, "output");
    const isClean = verdict.ok && verdict.findings.length === 0;
    this.#options.hooks.log(level, isClean ? message : WITHHELD);
  }

  /** Shows text that was cleared, with media at their positions. */
  async #release(passed: Passed): Promise<void> {
    if (passed.kind !== "clear") return this.#enter(passed);
    const { hooks } = this.#options;
    let { text } = passed;
    for (;;) {
      const [first] = this.#media;
      const upTo =
        first === undefined ? text.length : Math.min(text.length, first.behind - this.#shown);
      if (upTo > 0) await hooks.emit(text.slice(0, upTo));
      this.#shown += Math.max(0, upTo);
      text = text.slice(Math.max(0, upTo));
      if (first === undefined || first.behind > this.#shown) return undefined;
      this.#media.shift();
      await hooks.emitMedia(first.media);
    }
  }

  #enter(trouble: Trouble): void {
    this.#trouble ??= trouble;
    // The handler must end before its output can be held. A blocked attempt need not wait for that.
    if (trouble.kind === "unavailable" || this.#options.action === "block") this.#options.stop();
  }
}

function troubleOf(verdict: Verdict): Trouble | undefined {
  if (!verdict.ok) return { kind: "unavailable", message: verdict.message };
  const { findings } = verdict;
  return findings.length === 0 ? undefined : { kind: "found", findings };
}

const flag = (phase: Phase, findings: readonly Finding[]): WireCheck => ({
  kind: GateKind.MODERATION_FLAGGED,
  phase,
  detailsJson: Buffer.from(JSON.stringify({ findings })),
});

function blocked(phase: Phase, { findings }: Extract<Trouble, { kind: "found" }>): WireResult {
  const rules = [...new Set(findings.map(({ rule }) => rule))].slice(0, 5).join(", ");
  const message = `moderation_blocked: the ${phase} breaks ${rules}`;
  return failed("moderation_blocked", message, { permanent: true });
}

/** The retry policy may try again, as for any provider that is down. */
const unavailable = (message: string): WireResult => failed("moderation_unavailable", message);

function withheld(result: Extract<WireResult, { case: "failed" }>): WireResult {
  const { cause = "provider_error", permanent = false } = result.value;
  return failedWith(cause, WITHHELD, { permanent });
}
