import { create } from "@bufbuild/protobuf";
import { Result } from "@pawl/core/handler/result";
import { AssignmentSchema, GateKind } from "@pawl/proto/pawl/worker/v1/worker_service_pb";
import { expect, test } from "vitest";
import type { ModerationGateway } from "../checks/moderation.ts";
import { ruleSetSchema } from "../checks/rule-set.ts";
import { rulesGateway } from "../checks/rules-gateway.ts";
import { defineHandler, type TaskContext } from "../handlers/handler.ts";
import { registryOf } from "../handlers/registry.ts";
import { attemptRunner } from "./attempt.ts";
import { memoryLedger } from "../work/memory-ledger.fixture.ts";

const RULES = { rules: [{ id: "bad", category: "c", literal: "forbidden" }] };

function rules(): ModerationGateway {
  const set = ruleSetSchema.parse(RULES);
  if (set === undefined) throw new Error("no rules");
  return rulesGateway(set);
}

interface Attempt {
  readonly execute: (ctx: TaskContext) => unknown;
  readonly node?: Readonly<Record<string, unknown>>;
  readonly input?: unknown;
  readonly isApproved?: boolean;
  readonly gateway?: ModerationGateway | null;
}

/** Runs one attempt; returns its outcome and everything that a watcher would see. */
async function attempt({ execute, node, input, isApproved, gateway }: Attempt) {
  const seen: string[] = [];
  const handler = defineHandler({
    type: "t",
    run: (_input, ctx) => execute(ctx),
  });
  const run = attemptRunner(
    registryOf([handler]),
    gateway === null ? undefined : (gateway ?? rules()),
  );
  const text = (value: unknown) => Buffer.from(JSON.stringify(value));
  const assignment = create(AssignmentSchema, {
    claim: { runId: "r", nodeId: "n", iteration: 0, epoch: 9n },
    nodeType: "t",
    nodeJson: text({ node: { id: "n", type: "t", config: {}, merge: null, ...node } }),
    contextJson: text({ input: input ?? null, nodes: {}, vars: {} }),
    timeoutMs: 10_000n,
    inputApproved: isApproved ?? false,
  });
  const { result, gates = [] } = await run(assignment, {
    signal: new AbortController().signal,
    emit: async (piece) => void seen.push(piece),
    emitMedia: async ({ url }) => void seen.push(`<${url}>`),
    effects: memoryLedger(),
    extend: async () => undefined,
    log: (level, message) => void seen.push(`${level}: ${message}`),
  });
  const found = gates.map(({ kind, phase, detailsJson }) => ({
    kind,
    phase,
    details: JSON.parse(String(detailsJson)) as unknown,
  }));
  return { result, gates: found, seen, shown: seen.join("") };
}

const flagged = (phase: string, path: string) => ({
  kind: GateKind.MODERATION_FLAGGED,
  phase,
  details: { findings: [{ rule: "bad", category: "c", path }] },
});

test("an input that is flagged blocks the node before its handler, for good (S1.16)", async () => {
  const calls: unknown[] = [];
  const execute = () => {
    calls.push(1);
    return 1;
  };
  for (const moderation of ["input", "both"]) {
    const node = { moderation };
    const { result, gates } = await attempt({ execute, node, input: { q: "a Forbidden thing" } });
    expect(result).toMatchObject({ value: { cause: "moderation_blocked", permanent: true } });
    expect(gates).toEqual([flagged("input", "input.q")]);
  }
  expect(calls).toEqual([]);
  for (const moderation of ["none", "output"])
    await attempt({ execute, node: { moderation }, input: "forbidden" });
  expect(calls).toHaveLength(2);
});

test("values that templates bring into the config are checked as input (S1.16)", async () => {
  const node = { moderation: "input", config: { say: "{{ ctx.input }}" } };
  const { gates } = await attempt({ execute: () => 1, node, input: "forbidden" });
  expect(gates).toMatchObject([
    { details: { findings: [{ path: "input" }, { path: "config.say" }] } },
  ]);
});

test("a held input waits, and is not asked about again once a person approved it (S1.16)", async () => {
  const node = { moderation: "input", moderationAction: "hold" };
  const base = { execute: () => 1, node, input: "forbidden" };
  const { result } = await attempt(base);
  expect(result).toEqual({ case: "held", value: { reason: "moderation_hold", phase: "input" } });
  expect((await attempt({ ...base, isApproved: true })).result.case).toBe("completed");
});

test("an output that is flagged is blocked, or held with the output (S1.18)", async () => {
  const execute = () => new Result({ text: "forbidden" }, { handle: "h" });
  const blocked = await attempt({ execute, node: { moderation: "output" } });
  expect(blocked.result).toMatchObject({
    value: {
      cause: "moderation_blocked",
      permanent: true,
      message: expect.not.stringContaining("forbidden"),
    },
  });
  expect(blocked.gates).toEqual([flagged("output", "output.text")]);
  const node = { moderation: "both", moderationAction: "hold" };
  const held = await attempt({ execute, node });
  expect(held.result).toMatchObject({
    case: "held",
    value: { phase: "output", completed: { handle: "h" } },
  });
});

test("no person is asked about an output that its contract refuses (S1.18, S1.19)", async () => {
  const contracts = { input: null, output: { type: "string" } };
  const node = { moderation: "output", moderationAction: "hold", contracts };
  const { result, gates } = await attempt({
    execute: () => ({ text: "forbidden" }),
    node,
  });
  expect(result).toMatchObject({ value: { cause: "output_contract_violation" } });
  expect(gates.map(({ kind }) => kind)).toEqual([
    GateKind.MODERATION_FLAGGED,
    GateKind.CONTRACT_VIOLATED,
  ]);
});

const PIECES = ["all is well, then forb", "idd", "en things, and more"];

test("a phrase split over pieces is never shown; blocking aborts the handler (S1.18, S1.20)", async () => {
  const ends: unknown[] = [];
  const execute = async (ctx: TaskContext) => {
    for (const piece of PIECES) await ctx.emit(piece);
    ends.push(ctx.signal.aborted);
    await ctx.emit("too late");
    return "fine";
  };
  const { result, gates, shown } = await attempt({ execute, node: { moderation: "output" } });
  expect(result).toMatchObject({ value: { cause: "moderation_blocked" } });
  expect(gates).toEqual([flagged("output", "stream")]);
  expect("all is well, then ".startsWith(shown)).toBe(true);
  expect(ends).toEqual([true]);
});

test("a stream that is held shows no more text, and its handler runs to its end", async () => {
  const execute = async (ctx: TaskContext) => {
    // A handler need not wait.
    for (const piece of PIECES) void ctx.emit(piece);
    return "the whole";
  };
  const node = { moderation: "output", moderationAction: "hold" };
  const { result, shown } = await attempt({ execute, node });
  expect(result).toMatchObject({ case: "held", value: { phase: "output" } });
  expect(shown).not.toContain("forb");
});

test("a clean stream is shown whole, with media where they belong and log lines as they are", async () => {
  const execute = async (ctx: TaskContext) => {
    await ctx.emit("one ");
    await ctx.emitMedia({ url: "http://x/a.png", mime: "image/png" });
    ctx.log("info", "a line");
    await ctx.emit("two");
    return 1;
  };
  const { result, seen } = await attempt({ execute, node: { moderation: "both" } });
  expect(result.case).toBe("completed");
  expect(seen.filter((each) => !each.startsWith("info")).join("")).toBe("one <http://x/a.png>two");
  expect(seen).toContain("info: a line");
});

test("log lines, media and error messages do not show text that a stream may not show", async () => {
  const node = { moderation: "output" };
  const logged = await attempt({
    node,
    execute: (ctx) => {
      ctx.log("info", "this is forbidden");
      throw new Error("forbidden as well");
    },
  });
  expect(logged.seen).toEqual(["info: [withheld by moderation]"]);
  expect(logged.result).toMatchObject({
    value: { cause: "provider_error", message: "[withheld by moderation]" },
  });
  const media = await attempt({
    node,
    execute: async (ctx) => {
      await ctx.emitMedia({ url: "http://x/forbidden.png", mime: "image/png" });
      return 1;
    },
  });
  expect(media.seen).toEqual([]);
  expect(media.result).toMatchObject({ value: { cause: "moderation_blocked" } });
});

test("if moderation cannot check, no text passes, and the policy may retry", async () => {
  const away = { ok: false, message: "away" } as const;
  const deaf: ModerationGateway = { ...rules(), check: () => away, checkStretch: () => away };
  const execute = async (ctx: TaskContext) => {
    await ctx.emit("text");
    return 1;
  };
  for (const moderation of ["input", "output"])
    for (const gateway of [deaf, null]) {
      const { result, shown } = await attempt({ execute, node: { moderation }, gateway });
      expect(result).toMatchObject({
        value: { cause: "moderation_unavailable", permanent: false },
      });
      expect(shown).toBe("");
    }
});
