// `runHandler`: one invocation of a handler without network, for tests. Its ledger follows the rules of the real one. The race that it
// has: the handler, the time limit and a cancel may each end the invocation. The first one counts, as in an executor.

import type { Action, ActionType } from "@pawl/core/action/kinds";
import type { Handler } from "@pawl/core/handler/define";
import { Cancelled } from "@pawl/core/handler/failure";
import { countedUsage } from "@pawl/core/handler/settle";
import type { EffectDoor, LogLevel, Settled } from "@pawl/core/handler/served";
import type { HandlerState } from "@pawl/core/handler/state";
import type { Media, Usage } from "@pawl/core/log/event";
import { addUsage } from "@pawl/core/log/usage";
import { isName } from "@pawl/core/name/ids";
import type { EffectStanding } from "@pawl/core/policy/effect";

/** In a ledger: an earlier attempt began the effect, and its result is unknown. */
export const BEGUN: unique symbol = Symbol("begun");

/** The effects of earlier attempts by name: a result, or `BEGUN`. */
export type Ledger = Readonly<Record<string, unknown>>;

export interface RunOptions<Config = unknown> {
  /** From 1, the default. */
  readonly attempt?: number;
  /** The config after its templates are filled in; {} by default. */
  readonly config?: Config;
  /** What earlier attempts did; nothing by default. `ledger` of a run is the ledger of the next attempt. */
  readonly ledger?: Ledger;
  /** Cancels after this time. */
  readonly cancelAfterMs?: number;
  /** Cancels when it is aborted. */
  readonly signal?: AbortSignal;
  /** The time limit of the attempt; a minute by default. */
  readonly timeoutMs?: number;
  /** Which execution of the node; 0 by default. */
  readonly iteration?: number;
  readonly runId?: string;
  readonly nodeId?: string;
  readonly workflowId?: string;
  /** Empty by default. */
  readonly traceparent?: string;
  /** The memory of the run that the handler reads; {} by default. */
  readonly memory?: Readonly<Record<string, unknown>>;
  /** The labels of the data that the handler gets; none by default. */
  readonly taint?: readonly string[];
  /** The state of the run, for a handler that asks for it; none by default. */
  readonly state?: HandlerState;
}

/** An action as plain data: its type and the fields that the handler gave. */
export type Asked = { readonly type: ActionType } & Readonly<Record<string, unknown>>;

/** How an invocation ended, and what it did. Exactly one of `output` and `failure` is there. */
export interface Ran<Output = unknown> {
  readonly output?: Output;
  readonly failure?: {
    readonly cause: string;
    readonly message: string;
    readonly permanent: boolean;
    readonly retryAfterMs: number;
    readonly details?: unknown;
  };
  /** The handle by which the node is left. */
  readonly handle: string;
  readonly queueDelayMs: number;
  /** What it used: the reports of its context and its result together. */
  readonly usage?: Usage;
  /** What it asks of the engine beside its output, in order. */
  readonly actions: readonly Asked[];
  /** What it streamed, in order. */
  readonly partials: readonly (string | Media)[];
  readonly logs: readonly { readonly level: LogLevel; readonly message: string }[];
  /** The effects of this invocation by name. */
  readonly effects: Readonly<Record<string, "begun" | "committed">>;
  /** For the next attempt. */
  readonly ledger: Ledger;
}

const TIMEOUT_MS = 60_000;
const RUN_ID = "01890000-0000-7000-8000-000000000000";

/** Runs a handler once. It rejects only if the test passed something that is not JSON. */
export async function runHandler<Input, Output, Config>(
  handler: Handler<Input, Output, Config>,
  input: NoInfer<Input>,
  options: RunOptions<NoInfer<Config>> = {},
): Promise<Ran<Output>> {
  const { attempt = 1, config = {}, timeoutMs = TIMEOUT_MS, iteration = 0 } = options;
  const { runId = RUN_ID, nodeId = "node", workflowId = "workflow", traceparent = "" } = options;
  const { memory = {}, taint = [], state } = options;
  const partials: (string | Media)[] = [];
  const logs: { level: LogLevel; message: string }[] = [];
  let used: Usage | undefined;
  const ending = endingOf(options, timeoutMs);
  const { signal } = ending;
  const ledger = fakeLedger(options.ledger ?? {}, signal);
  // After the signal nothing counts, as in an executor.
  const live = (act: () => void): void => {
    if (!signal.aborted) act();
  };
  try {
    const settled = await Promise.race([
      handler.invoke({
        ...{ runId, nodeId, workflowId, iteration, attempt, traceparent, timeoutMs, signal },
        ...{ memory, taint },
        ...(state === undefined ? {} : { state }),
        inputJson: JSON.stringify(input) ?? "null",
        configJson: JSON.stringify(config) ?? "{}",
        effectKey: `${runId}/${nodeId}/${iteration}`,
        emit: async (piece) => live(() => partials.push(piece)),
        emitMedia: async (media) => live(() => partials.push(media)),
        log: (level, message) => live(() => logs.push({ level, message })),
        usage: (usage) => live(() => (used = addUsage(used, countedUsage(usage)))),
        effects: ledger.door,
      }),
      ending.ended,
    ]);
    const ended = signal.aborted ? await ending.ended : settled;
    const read = readSettled<Output>(ended);
    const usage = addUsage(used, "usage" in read ? read.usage : undefined);
    return { ...read, ...(usage && { usage }), partials, logs, ...ledger.read() };
  } finally {
    ending.clear();
  }
}

function readSettled<Output>(settled: Settled) {
  if ("result" in settled) {
    const { outputJson, actions = [], ...facts } = settled.result;
    // The handler's own schema gave it.
    return { ...facts, actions: actions.map(asked), output: JSON.parse(outputJson) as Output };
  }
  const { cause, message, permanent, retryAfterMs, detailsJson } = settled.failure;
  const details = detailsJson === "" ? {} : { details: JSON.parse(detailsJson) as unknown };
  const failure = { cause, message, permanent, retryAfterMs, ...details };
  return { failure, actions: [], handle: "", queueDelayMs: 0 };
}

/** Fields without a value are left out, and JSON texts are values: `valuesJson` is `values`. */
function asked({ type, ...fields }: Action): Asked {
  const given = Object.entries(fields).flatMap(([name, value]): [string, unknown][] => {
    if (value === "" || value === 0 || (Array.isArray(value) && value.length === 0)) return [];
    if (!name.endsWith("Json")) return [[name, value]];
    return [[name.slice(0, -"Json".length), JSON.parse(String(value)) as unknown]];
  });
  return { ...Object.fromEntries(given), type };
}

/** The signal of the handler, and the outcome that a cancel or a timeout gives. */
function endingOf({ cancelAfterMs, signal: outside }: RunOptions, timeoutMs: number) {
  const controller = new AbortController();
  const { promise: ended, resolve } = Promise.withResolvers<Settled>();
  const end = (cause: string, message: string): void => {
    const facts = { permanent: false, retryAfterMs: 0, timeoutMs: 0, detailsJson: "" };
    resolve({ failure: { cause, message, ...facts } });
    controller.abort(new Cancelled(message));
  };
  const cancel = (): void => end("cancelled", "the invocation was cancelled");
  const timers = [setTimeout(end, timeoutMs, "timeout", `longer than ${timeoutMs} ms`)];
  if (cancelAfterMs !== undefined) timers.push(setTimeout(cancel, cancelAfterMs));
  outside?.addEventListener("abort", cancel, { once: true });
  if (outside?.aborted === true) cancel();
  return {
    signal: controller.signal,
    ended,
    clear: (): void => {
      for (const timer of timers) clearTimeout(timer);
      outside?.removeEventListener("abort", cancel);
    },
  };
}

/** A ledger in memory with the rules of the real one. */
function fakeLedger(before: Ledger, signal: AbortSignal) {
  const begun = new Map<string, "begun" | "committed">();
  const results = new Map(Object.entries(before));
  const checkLive = (): void => {
    if (signal.aborted) throw new Cancelled();
  };
  const door: EffectDoor = {
    begin: async (name) => {
      checkLive();
      if (!isName(name)) throw new Error(`${JSON.stringify(name)} is no name of an effect`);
      if (begun.has(name)) throw new Error(`the effect ${name} was begun in this attempt before`);
      const standing = standingOf(results, name);
      begun.set(name, standing.state === "committed" ? "committed" : "begun");
      if (standing.state === "new") results.set(name, BEGUN);
      return standing;
    },
    commit: async (name, resultJson) => {
      checkLive();
      if (begun.get(name) !== "begun") throw new Error(`the effect ${name} is not begun`);
      begun.set(name, "committed");
      results.set(name, JSON.parse(resultJson));
    },
  };
  const read = () => ({ effects: Object.fromEntries(begun), ledger: Object.fromEntries(results) });
  return { door, read };
}

function standingOf(results: ReadonlyMap<string, unknown>, name: string): EffectStanding {
  if (!results.has(name)) return { state: "new" };
  const known = results.get(name);
  if (known === BEGUN) return { state: "begun_before" };
  return { state: "committed", resultJson: JSON.stringify(known) ?? "null" };
}
