// The program under test for the TypeScript SDK: the twelve handlers of PROGRAM.md.

import { setTimeout as wait } from "node:timers/promises";
import type { Context } from "@pawl/core/handler/context";
import { defineHandler } from "@pawl/core/handler/define";
import { Failed } from "@pawl/core/handler/failure";
import { result } from "@pawl/core/handler/result";
import { LOG_LEVELS } from "@pawl/core/handler/served";
import { EFFECT_CLASSES } from "@pawl/core/policy/effect";
import { CancelledBy } from "@pawl/handler/serve/cancelled";
import { serve } from "@pawl/handler/serve/serve";
import { z } from "zod";

const note = (text: string): void => void process.stdout.write(`kit: ${text}\n`);

const echo = defineHandler({
  type: "kit.echo@1",
  description: "Returns its input.",
  run: (input) => input,
});

const typed = defineHandler({
  type: "kit.typed@1",
  description: "Repeats a text.",
  input: z.object({ text: z.string(), count: z.int().min(1) }),
  output: z.object({ text: z.string() }),
  config: z.object({ prefix: z.string().default("") }),
  run: ({ text, count }, { config }) => ({ text: config.prefix + text.repeat(count) }),
});

const stream = defineHandler({
  type: "kit.stream@1",
  description: "Emits pieces of text.",
  input: z.object({ pieces: z.array(z.string()) }),
  output: z.object({ count: z.int() }),
  run: async ({ pieces }, ctx) => {
    for (const piece of pieces) await ctx.emit(piece);
    return { count: pieces.length };
  },
});

const log = defineHandler({
  type: "kit.log@1",
  description: "Logs lines.",
  input: z.object({
    lines: z.array(z.object({ level: z.enum(LOG_LEVELS), message: z.string() })),
    context: z.boolean().default(false),
  }),
  output: z.object({ count: z.int() }),
  run: ({ lines, context }, ctx) => {
    for (const { level, message } of lines) ctx.log(level, message);
    const { attempt, effectKey, runId, nodeId, iteration, traceparent } = ctx;
    if (context)
      ctx.log(
        "info",
        `attempt=${attempt} effect_key=${effectKey} run=${runId} node=${nodeId} iteration=${iteration} trace=${traceparent}`,
      );
    return { count: lines.length };
  },
});

const DEPTH = 30;

function throwFrom(depth: number, message: string): never {
  if (depth === 0) throw new RangeError(message);
  throwFrom(depth - 1, message);
}

const fail = defineHandler({
  type: "kit.fail@1",
  description: "Fails as its input says.",
  input: z.object({
    mode: z.enum(["throw", "timeout", "permanent", "retry_after", "cause", "not_json"]),
    message: z.string(),
    cause: z.string().default("kit.cause"),
    retry_after_ms: z.int().default(0),
  }),
  run: async ({ mode, message, cause, retry_after_ms: retryAfterMs }) => {
    if (mode === "timeout") await wait(60_000, undefined, { signal: AbortSignal.timeout(1) });
    if (mode === "throw") throwFrom(DEPTH, message);
    if (mode === "permanent") throw new Failed("kit.permanent", message, { permanent: true });
    if (mode === "retry_after") throw new Failed("kit.busy", message, { retryAfterMs });
    if (mode === "cause") throw new Failed(cause, message, { details: { mode } });
    return 10n;
  },
});

const effect = defineHandler({
  type: "kit.effect@1",
  description: "Makes one effect.",
  input: z.object({ name: z.string(), class: z.enum(EFFECT_CLASSES) }),
  output: z.object({ result: z.unknown() }),
  run: async ({ name, class: effectClass }, ctx) => {
    const made = await ctx.once(name, effectClass, () => {
      note(`made ${name}`);
      return { made: name };
    });
    return { result: made };
  },
});

const waits = defineHandler({
  type: "kit.wait@1",
  description: "Waits for its signal.",
  input: z.object({ name: z.string() }),
  output: z.object({ cancelled: z.boolean() }),
  run: async ({ name }, { signal, emit }) => {
    await emit("started");
    await new Promise((resolve) => {
      if (signal.aborted) resolve(undefined);
      signal.addEventListener("abort", resolve, { once: true });
    });
    const why: unknown = signal.reason;
    note(`cancelled ${name} ${why instanceof CancelledBy ? why.reason : String(why)}`);
    note(`returned ${name}`);
    return { cancelled: true };
  },
});

const stubborn = defineHandler({
  type: "kit.stubborn@1",
  description: "Ignores its signal for a while.",
  input: z.object({ name: z.string(), ms: z.int() }),
  output: z.object({ ms: z.int() }),
  stallMs: 600_000,
  run: async ({ name, ms }, { emit }) => {
    await emit("started");
    await wait(ms);
    note(`returned ${name}`);
    return { ms };
  },
});

const big = defineHandler({
  type: "kit.big@1",
  description: "Returns a large text.",
  input: z.object({ bytes: z.int() }),
  output: z.string(),
  run: ({ bytes }) => "x".repeat(bytes),
});

const ASKS: Readonly<Record<string, (ctx: Context) => void>> = {
  remember: (ctx) => {
    ctx.remember("city", "Oslo");
    ctx.remember("count", 2);
  },
  set_status: (ctx) => ctx.setStatus("completed", { message: "done", output: { ok: true } }),
  goto: (ctx) => ctx.goto("next", "again"),
  hand_off_node: (ctx) => ctx.handOff({ node: "next", reason: "busy" }),
  hand_off_workflow: (ctx) => ctx.handOff({ workflow: "billing", version: 2, input: { n: 1 } }),
  ask_human: (ctx) =>
    ctx.askHuman({
      message: "Ship it?",
      details: { n: 1 },
      assignees: ["ada"],
      deadlineMs: 60_000,
    }),
  answer_human: (ctx) =>
    ctx.answerHuman({
      node: "review",
      decision: "approve",
      response: { ok: true },
      comment: "fine",
    }),
  merge_results: (ctx) => ctx.mergeResults({ into: "all", strategy: "array", keys: ["a", "b"] }),
  spend: (ctx) => {
    ctx.usage({ inputTokens: 3, outputTokens: 4, model: "kit-model" });
    ctx.usage({ inputTokens: 1, outputTokens: 0, costMicros: 7, model: "kit-model" });
  },
  not_json: (ctx) => ctx.remember("bad", Number.NaN),
};

const act = defineHandler({
  type: "kit.act@1",
  description: "Asks the engine for actions.",
  input: z.object({ asks: z.array(z.string()) }),
  output: z.object({ memory: z.unknown(), state: z.unknown().optional() }),
  state: true,
  run: ({ asks }, ctx) => {
    for (const ask of asks) ASKS[ask]?.(ctx);
    const { goal, currentNodes: nodes, retryCount: retries, memory } = ctx.state ?? {};
    const state = ctx.state === undefined ? null : { goal, nodes, retries, memory };
    return asks.includes("state") ? { memory: ctx.memory, state } : { memory: ctx.memory };
  },
});

const taint = defineHandler({
  type: "kit.taint@1",
  description: "Adds a label to its output.",
  external: true,
  output: z.object({ labels: z.array(z.string()) }),
  run: (_input, ctx) => result({ labels: ctx.taint.toSorted() }, { taint: ["kit"] }),
});

const crash = defineHandler({
  type: "kit.crash@1",
  description: "Ends the process.",
  run: () => process.exit(3),
});

await serve([echo, typed, stream, log, fail, effect, waits, stubborn, big, act, taint, crash], {
  name: "kit",
  build: "kit-build",
  slots: 8,
});
